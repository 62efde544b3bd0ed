// Resources of a compiled GPU kernel, as the compiler recorded them in the code object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fields.h"
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
  static void fields(auto& resources, auto&& field) {
    field("registers", resources.registers);
    field("scalar_registers", resources.scalar_registers);
    field("spills", resources.spills);
    field("private_bytes", resources.private_bytes);
    field("shared_bytes", resources.shared_bytes);
    field("subgroup_size", resources.subgroup_size);
  }
};

// Reads the metadata note of an AMD code object (LLVM's AMDGPUUsage, "Code Object V3 and Above
// Metadata") for the kernel called `entry`. Nothing if the file is no code object, has no such
// kernel or has a damaged note.
std::optional<KernelResources> hsaco_resources(std::string_view hsaco, std::string_view entry);

// Reads registers and stack of NVIDIA machine code from the attributes in its section .nv.info.
// NVIDIA does not document the format. It is read as CuAssembler
// (github.com/cloudcores/CuAssembler) does, and agrees with the output of ptxas -v. `spills` stays
// 0, for the file does not tell what the stack is for. `shared_bytes` stays 0 too: from sm_90 on
// the section's size includes the system's share.
std::optional<KernelResources> cubin_resources(std::string_view cubin, std::string_view entry);

// Returns the resources of the artifact's kernel, read according to its format; nothing for PTX and
// for code that runs on no GPU. On NVIDIA `shared_bytes` comes from the launch, which is all that
// IREE's and Triton's kernels have.
std::optional<KernelResources> kernel_resources(const Artifact& artifact);

}  // namespace hone::provider
