// Launch parameters of code: a provider states them for an artifact, a device applies them.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hone::problem {

// Describes a dense matrix to the hardware that fetches tiles of it (NVIDIA's tensor maps, sm_90
// and later). The driver makes its 128 bytes when the matrix's address is known.
struct TensorMap {
  std::vector<std::int64_t> shape;    // elements, the outermost dimension first
  std::vector<std::int64_t> strides;  // elements from one index to the next; 1 for the last
  std::vector<std::int64_t> box;      // elements of a tile
  int element_type = 0;               // CUtensorMapDataType
  int element_bytes = 0;
  int swizzle = 0;  // CUtensorMapSwizzle

  bool operator==(const TensorMap&) const = default;
};

// An argument of a kernel that does not follow IREE's convention.
struct LaunchArgument {
  enum class Kind {
    kBinding,    // address of binding `binding`
    kScratch,    // address of byte `value` of the scratch memory
    kInteger,    // 32 bits, `value`
    kTensorMap,  // `map` of binding `binding`, then its shape (32 bits each) and strides (64 each)
  };
  Kind kind = Kind::kInteger;
  int binding = 0;
  std::int64_t value = 0;
  TensorMap map = {};

  bool operator==(const LaunchArgument&) const = default;
};

// Start of a kernel's binding: `offset` bytes before buffer `buffer`. That address need not be
// memory, since the kernel reads and writes its views only.
struct KernelBinding {
  int buffer = -1;  // -1: none, the kernel does not use it
  std::int64_t offset = 0;
  std::int64_t bytes = 0;  // as far as its last view goes

  bool operator==(const KernelBinding&) const = default;
};

// Memory in the kernel's own module. The variable `variable` holds kGuardBytes, the kernel's
// `bytes`, and kGuardBytes again. It is zero when the module is loaded.
struct OwnMemory {
  // Guards are written by verification only. A kernel that states less than it needs overwrites
  // them.
  static constexpr std::int64_t kGuardBytes = 4096;
  std::string variable;
  std::int64_t bytes = 0;

  bool operator==(const OwnMemory&) const = default;
};

struct Launch {
  std::string entry;                            // exported name; empty: the ordinal alone decides
  int ordinal = 0;                              // of the export in its library
  std::array<std::uint32_t, 3> grid{1, 1, 1};   // workgroups
  std::array<std::uint32_t, 3> block{1, 1, 1};  // threads of a workgroup; 1,1,1 on a CPU
  std::uint32_t shared_bytes = 0;               // dynamic shared memory; local memory on a CPU
  std::vector<std::uint32_t> constants = {};    // 32-bit words

  // Bindings by ordinal; empty: buffer i is binding i. Set once the buffers exist (over_bindings in
  // dispatch.h): not part of an artifact, never serialised.
  std::vector<KernelBinding> bindings = {};

  // Empty: the addresses of all bindings, then the constants, as IREE's kernels take them.
  std::vector<LaunchArgument> arguments = {};
  int hidden_pointers = 0;         // null pointers behind the arguments (Triton's scratch memory)
  std::int64_t scratch_bytes = 0;  // of the device's memory, zero before the first launch
  std::vector<OwnMemory> own_memory = {};  // of the kernel's module
  std::int64_t code_bytes = 0;             // of the code that are this kernel's; 0: all of them
  std::vector<Launch> then = {};  // kernels that run after this one; their code follows its code

  bool operator==(const Launch&) const = default;
};

// A kernel of a launch and its own code.
struct KernelPart {
  const Launch* launch;
  std::string_view code;
};
// Returns the kernels in the order they run, `launch` first. Code that is shorter than the parts
// say is cut.
std::vector<KernelPart> kernels_of(const Launch& launch, std::string_view code);

void to_json(nlohmann::json& json, const LaunchArgument& argument);
void from_json(const nlohmann::json& json, LaunchArgument& argument);
void to_json(nlohmann::json& json, const Launch& launch);
void from_json(const nlohmann::json& json, Launch& launch);

}  // namespace hone::problem
