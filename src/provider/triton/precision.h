// Precision with which replacing kernels compute products of f32: the values of the knob PRECISION
// (PRECISIONS of python/kernel_text.py).
#pragma once

#include "provider/triton/gemm_device.h"
#include "space/space.h"

namespace hone::triton {

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
