// hone's own kernels in PTX, for any GPU from sm_80 on (gpu/own_kernels.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "device/cuda/gpu.h"
#include "device/gpu/own_kernels.h"

namespace hone::device::cuda {

using gpu::OwnKernel;

// Rounds of independent f32 multiply-adds on every thread, two blocks of 1024 per multiprocessor.
OwnKernel multiply_add_kernel(int multiprocessors, std::uint32_t rounds);
// Rounds of mma.sync m16n8k16, f16 inputs added up in f32, eight independent ones per warp.
OwnKernel matrix_kernel(int multiprocessors, std::uint32_t rounds);
// Runs a single thread that waits for `nanoseconds`.
OwnKernel pause_kernel(std::uint32_t nanoseconds);
// CUDA C++ of the kernels that compare arrays.
std::string comparison_source();

// Floating-point operations that the tensor cores of one multiprocessor of this architecture do per
// clock on dense f16 operands with sums in f32: NVIDIA's peak figures over multiprocessors and
// boost clock (A100 312 TFLOP/s, GA102, H100 and H200 989, B200 2250: their data sheets). 0 for
// others; sm_89 is in GPUs of two rates.
double tensor_flops_per_clock(std::string_view arch);

// All of them. The comparison needs libnvrtc.
gpu::OwnKernels own_kernels(const GpuFacts& facts);

}  // namespace hone::device::cuda
