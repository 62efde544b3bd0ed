// What a compiled GPU kernel takes of the device, as the compiler wrote it into the code object.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "provider/artifact.h"

namespace hone::provider {

inline constexpr std::string_view kCudaPtx = "cuda-ptx";      // Artifact::format of PTX text
inline constexpr std::string_view kCudaCubin = "cuda-cubin";  // of PTX that was assembled
inline constexpr std::string_view kRocmHsaco = "rocm-hsaco";  // of an AMD code object

struct KernelResources {
  int registers = 0;               // of a thread; on AMD vector and accumulation registers together
  int scalar_registers = 0;        // of a subgroup; 0 where there are none
  int spills = 0;                  // registers kept in memory, vector and scalar
  std::int64_t private_bytes = 0;  // of a thread's stack
  std::int64_t shared_bytes = 0;   // of a workgroup, known when it is compiled (LDS)
  int subgroup_size = 0;

  bool operator==(const KernelResources&) const = default;
};

// Reads the metadata note of an AMD code object (LLVM's AMDGPUUsage, "Code Object V3 and Above
// Metadata") for the kernel called `entry`. Nothing when it is no such file, has no such kernel or
// the note is damaged.
std::optional<KernelResources> hsaco_resources(std::string_view hsaco, std::string_view entry);

// Does for NVIDIA's machine code what hsaco_resources() does for AMD's: reads registers and stack
// from the attributes in its section .nv.info. NVIDIA does not document the format; it is read as
// CuAssembler (github.com/cloudcores/CuAssembler) has it, and agrees with what ptxas -v says.
// `spills` stays 0, for the file does not say what the stack is for, and so does `shared_bytes`:
// the section's size includes, from sm_90 on, what the system takes.
std::optional<KernelResources> cubin_resources(std::string_view cubin, std::string_view entry);

// Returns the resources of the artifact's kernel, read according to its format; nothing for PTX and
// for what runs on no GPU. On NVIDIA `shared_bytes` is what the launch asks for, which is all that
// IREE's and Triton's kernels have.
std::optional<KernelResources> kernel_resources(const Artifact& artifact);

void to_json(nlohmann::json& json, const KernelResources& resources);
void from_json(const nlohmann::json& json, KernelResources& resources);

}  // namespace hone::provider
