// hone's own kernels in PTX, for any GPU from sm_80 on: fixed work to calibrate and to find the
// peak with, and a pause.
#pragma once

#include <string>

#include "device/device.h"

namespace hone::device::cuda {

// Parameters of each: an address nothing is written to, unless its number is the result (which
// keeps a compiler from leaving the work out), then one 32-bit word.
struct OwnKernel {
  std::string code;
  LaunchParameters parameters;
  double flops = 0;  // of one launch
};

// Rounds of independent f32 multiply-adds on every thread, two blocks of 1024 per multiprocessor.
OwnKernel multiply_add_kernel(int multiprocessors, std::uint32_t rounds);
// Rounds of mma.sync m16n8k16, f16 inputs added up in f32, eight independent ones per warp.
OwnKernel matrix_kernel(int multiprocessors, std::uint32_t rounds);
// One thread that waits for `nanoseconds`: what is asked for meanwhile queues up behind it, so that
// the time of short kernels is not that of launching them.
OwnKernel pause_kernel(std::uint32_t nanoseconds);

}  // namespace hone::device::cuda
