// Launches of external kernels (hal.dispatch.extern) in a compiled program, read back from the
// compiler's IR.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// A launch in the program's text.
struct ExternLaunch {
  std::string function;
  std::vector<std::int64_t> grid, block;  // three extents each
  std::vector<std::uint32_t> constants;   // 32-bit words, behind the bindings
  std::vector<std::int64_t> binding_bytes;
  std::vector<std::int64_t> written_bindings;  // their positions

  bool operator==(const ExternLaunch&) const = default;
};

// Reads the launches of a program compiled up to executable-sources, in its order. An extent or
// byte count that is known only at run time is -1. Such a value among the constants makes the
// launch's constants empty. Input error with the compiler's words if it does not accept program or
// flags.
Result<std::vector<ExternLaunch>> extern_launches(const Library& library, const std::string& path,
                                                  std::string_view bytes,
                                                  const std::vector<std::string>& flags);

void to_json(nlohmann::json& json, const ExternLaunch& launch);
void from_json(const nlohmann::json& json, ExternLaunch& launch);

}  // namespace hone::iree
