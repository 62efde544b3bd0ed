// Kernel metadata in the metadata note of an AMD code object (LLVM's AMDGPUUsage, "Code Object V3
// and Above Metadata").
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hone::provider {

// The note as JSON: an object with "amdhsa.kernels". Null when `code` is no such file or the note
// is damaged.
nlohmann::json code_object_metadata(std::string_view code);

// Launch requirements of a kernel in a code object.
struct CodeObjectKernel {
  // An argument that the caller passes, not one that the runtime adds ("hidden_...").
  struct Argument {
    std::string name;  // empty where the file does not say it
    std::int64_t offset = 0, bytes = 0;
    bool address = false;  // of global memory
  };

  std::string name;
  std::int64_t kernarg_bytes = 0;  // that the caller fills
  int most_threads = 0;            // of a workgroup; 0: not said
  int subgroup_size = 0;           // 0: not said
  // A workgroup must have exactly these extents; 0, 0, 0: not said.
  std::array<std::int64_t, 3> required_block{};
  std::int64_t shared_bytes = 0;         // of a workgroup, beside what its launch asks for
  std::vector<Argument> arguments = {};  // in their order; empty where the file does not list them
};

// Lists the kernels of a code object; empty if `code` has no such note. Numbers that are missing or
// malformed are 0.
std::vector<CodeObjectKernel> code_object_kernels(std::string_view code);

}  // namespace hone::provider
