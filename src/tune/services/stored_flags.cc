#include "tune/services/stored_flags.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/decode_json.h"

namespace hone::tune {

Result<std::vector<std::string>> flags_in(const store::Build& build) {
  auto flags = decode_json<std::vector<std::string>>(parse_json(build.flags));
  if (!flags)
    return input_error("the store's flags of build {} {}", build.id, flags.error().message);
  return std::move(*flags);
}

Result<std::vector<std::string>> flags_to_compile_with(const store::Build& build,
                                                       const std::vector<std::string>& given,
                                                       const provider::ProgramProvider& provider) {
  HONE_ASSIGN(std::vector<std::string> flags, flags_in(build));
  for (const std::string& flag : flags) {
    const std::string_view name = std::string_view(flag).substr(0, flag.find('='));
    if (provider.is_harmless_flag(name)) continue;
    if (std::ranges::find(given, flag) != given.end()) continue;
    return input_error(
        "the store compiled with '{}', and a flag can make the compiler run or write what it "
        "names: "
        "give it again with --flag, or say --trust",
        flag);
  }
  return flags;
}

}  // namespace hone::tune
