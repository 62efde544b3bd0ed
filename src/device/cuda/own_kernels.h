// hone's own kernels in PTX, for any GPU from sm_80 on: fixed work to calibrate and to find the
// peak with, and a pause.
#pragma once

#include <string>

#include "device/device.h"

namespace hone::device::cuda {

// Parameters of each: an address, then one 32-bit word. Only an impossible result is written to the
// address, which keeps a compiler from removing the work.
struct OwnKernel {
  std::string code;
  LaunchParameters parameters;
  double flops = 0;  // of one launch
};

// Rounds of independent f32 multiply-adds on every thread, two blocks of 1024 per multiprocessor.
OwnKernel multiply_add_kernel(int multiprocessors, std::uint32_t rounds);
// Rounds of mma.sync m16n8k16, f16 inputs added up in f32, eight independent ones per warp.
OwnKernel matrix_kernel(int multiprocessors, std::uint32_t rounds);
// Runs a single thread that waits for `nanoseconds`. Launches queue up behind it, so that timing
// short kernels does not measure their launch overhead.
OwnKernel pause_kernel(std::uint32_t nanoseconds);

}  // namespace hone::device::cuda
