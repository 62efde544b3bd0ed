// Kernels of others that a compiled program calls (hal.dispatch.extern), and what it launches them
// with: read back from the compiler's IR.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// One launch in the program's text.
struct ExternLaunch {
  std::string function;
  std::vector<std::int64_t> grid, block;  // three extents each
  std::vector<std::uint32_t> constants;   // 32-bit words, behind the bindings
  std::vector<std::int64_t> binding_bytes;
  std::vector<std::int64_t> written_bindings;  // their positions

  bool operator==(const ExternLaunch&) const = default;
};

// Those of a program compiled up to executable-sources, in its order. What the IR says as something
// that is known at run time only is -1 (an extent, bytes) or makes the launch's constants empty.
// Input error with the compiler's words when it does not accept program or flags.
Result<std::vector<ExternLaunch>> extern_launches(const Library& library, const std::string& path,
                                                  std::string_view bytes,
                                                  const std::vector<std::string>& flags);

void to_json(nlohmann::json& json, const ExternLaunch& launch);
void from_json(const nlohmann::json& json, ExternLaunch& launch);

}  // namespace hone::iree
