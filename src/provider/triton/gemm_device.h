// Properties of a GPU that the GEMM kernels' spaces and the estimate of their time need.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "provider/triton/gemm.h"
#include "space/space.h"

namespace hone::triton {

// Plain facts. gemm_device() gives those of one product of each architecture. Code that has opened
// a driver replaces the figures that the driver reports (units, memory).
struct GemmDevice {
  std::string backend;            // "cuda" or "hip", as Triton names them
  std::string arch;               // "90", "gfx942"
  int units = 1;                  // multiprocessors, compute units, or (RDNA) workgroup processors
  int warp = 32;                  // threads of a warp (wavefront)
  std::int64_t shared_bytes = 0;  // shared memory (LDS) that one workgroup may have
  std::int64_t unit_shared_bytes = 0;  // of a unit, for all its workgroups
  std::int64_t unit_registers = 0;     // 32-bit ones of a unit, for all its threads
  int thread_registers = 0;            // most one thread may have
  std::int64_t l2_bytes = 0;
  double memory_gbytes_per_second = 0;
  double l2_gbytes_per_second = 0;
  double shared_gbytes_per_second = 0;  // of all units' shared memory together
  // Dense rates at boost clock, by the kind of operand: 16-bit floats, i8 and f8 on the matrix
  // units; f32 there (as tf32 on NVIDIA), and f32 as Triton computes it by default ("ieee").
  double f16_tflops = 0;
  double f8_tflops = 0;
  double i8_tflops = 0;
  double tf32_tflops = 0;
  double f32_tflops = 0;

  // The number in an NVIDIA architecture ("90" -> 90); 0 on AMD.
  int capability() const;
  bool is_cuda() const { return backend == "cuda"; }
  bool is_cdna() const { return arch.starts_with("gfx9"); }
};

// Returns the facts of a target: sm_80, sm_86, sm_89, sm_90, sm_100, gfx942, gfx950, gfx1100. An
// input error with the nearest names for another.
Result<GemmDevice> gemm_device(std::string_view target);

// Smallest size of a block, in each direction, that Triton makes products of. Problems with fewer
// rows, columns or depth would be mostly padding.
inline constexpr std::int64_t kLeastSize = 16;

// Limit of the scratch memory of a kernel in a program, in bytes. Each kernel has its own,
// allocated as long as the program is loaded.
inline constexpr std::int64_t kMostScratchBytes = std::int64_t{64} << 20U;

// Whether products run on matrix units: all but f32's on NVIDIA and RDNA, unless rounded to tf32.
bool on_matrix_units(const Gemm& gemm, const GemmDevice& device);
// Whether Hopper's and Blackwell's warpgroup instructions take the operands. They read them from
// shared memory; on Hopper, 8-bit operands must both be stored along k (seen in compiled kernels).
bool has_warpgroup_instructions(const Gemm& gemm, const GemmDevice& device);

// Returns an input error for element types that Triton has no code for on `device`: f8E4M3FN before
// sm_89, tf32 on AMD other than gfx942.
Status check(const Gemm& gemm, const GemmDevice& device);

// Precision with which replacing kernels compute products of f32: the values of the knob PRECISION
// (PRECISIONS of python/kernel_text.py).
inline constexpr space::Value kIeee = 0;    // multiply-adds without matrix units
inline constexpr space::Value kBf16x6 = 1;  // three parts of 8 bits each, in six products of bf16
inline constexpr space::Value kTf32x3 = 2;  // two parts of 11 bits each, in three products of tf32

inline constexpr const char* kPrecisions =
    "products of f32: 0 without matrix units, on them 1 in six products of three parts, 2 in three "
    "products of two parts";

// Plain instructions that taking a number apart costs: conversions, differences and, for an operand
// that is read from shared memory, stores (seen in code for sm_90).
inline constexpr double kTakingApart = 6;

// Rate of the device's units for such products, in 1e12 f32 operations per second.
inline double f32_tflops(const GemmDevice& device, space::Value precision) {
  if (precision == kBf16x6) return device.f16_tflops / 6;
  if (precision == kTf32x3) return device.tf32_tflops / 3;
  return device.f32_tflops;
}

}  // namespace hone::triton
