// Kernels inside the executables of IREE's compiler for GPUs. An executable has a 64-byte header
// ("CDA1" or "HIP1", u32 version, u64 size) and a flatbuffer (IREE's cuda_executable_def.fbs and
// hip_executable_def.fbs, checked on 3.13).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::iree {

struct GpuKernel {
  std::string format;  // provider::kCudaPtx or kRocmHsaco
  std::string code;    // PTX text or a code object
  std::string entry;
  std::array<std::uint32_t, 3> block{};
  std::uint32_t shared_bytes = 0;  // dynamic shared memory
  std::uint32_t constants = 0;     // 32-bit words
};

// Reads the kernel of export `ordinal`. Never reads outside of the bytes. An input error with the
// reason if they are no such executable.
Result<GpuKernel> gpu_kernel(std::string_view executable, int ordinal);

// Finds the kernel function `entry` in a compiled module (.vmfb), which holds executables
// unchanged. Nothing if no kernel has this name.
std::optional<GpuKernel> kernel_in_module(std::string_view module, std::string_view entry);

// The first kernel of each executable in a compiled module, in the module's order.
std::vector<GpuKernel> kernels_in_module(std::string_view module);

}  // namespace hone::iree
