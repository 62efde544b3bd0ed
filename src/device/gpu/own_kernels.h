// hone's own kernels on a GPU, whose code its vendor's folder makes: fixed work to calibrate and to
// find the peak with, a pause, and the comparison of arrays (comparer.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "device/device.h"
#include "device/gpu/gpu.h"

namespace hone::device::gpu {

// Parameters of each: an address, then one 32-bit word. Only an impossible result is written to the
// address, which keeps a compiler from removing the work.
struct OwnKernel {
  std::string code;
  LaunchParameters parameters;
  double flops = 0;  // of one launch
};

// A grid that fills the GPU: blocks of 1024 threads, so many per unit.
inline constexpr int kWorkThreads = 1024, kWorkBlocksPerUnit = 2;
// `rounds` of work on the whole GPU, of `flops` operations each for a thread.
OwnKernel work_kernel(std::string code, std::string entry, int units, std::uint32_t rounds,
                      double flops);

// A vendor's code. Functions that return a Result fail where the vendor's compiler is missing.
struct OwnKernels {
  // Runs a single thread that waits for `nanoseconds`. Launches queue up behind it, so that timing
  // short kernels does not measure their launch overhead.
  std::function<Result<OwnKernel>(std::uint32_t nanoseconds)> pause;
  // Rounds of independent f32 multiply-adds on every thread.
  std::function<Result<OwnKernel>(std::uint32_t rounds)> multiply_add;
  // Rounds of independent matrix instructions, f16 inputs added up in f32.
  std::function<Result<OwnKernel>(std::uint32_t rounds)> matrix;
  // A module of the kernels of comparison_source().
  std::function<Result<std::string>()> comparison;
  // The names of the instructions in the first two: "fma.f32, mma.sync f16".
  std::string instructions;
  // Throughput of matrix instructions as the vendor states it, GFLOP/s; 0: not known.
  double stated_matrix_gflops = 0;
};

// Measures the peak throughput of a GPU: f32 multiply-adds, matrix instructions, and bytes read and
// written by a copy within the GPU's memory; the best of several short runs each, after a warm-up.
// A throughput whose kernel cannot be made stays 0.
Result<Peak> measure_peak(const std::shared_ptr<GpuContext>& gpu, const OwnKernels& kernels);

}  // namespace hone::device::gpu
