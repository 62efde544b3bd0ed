#include "provider/iree/compiler/size_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hone::iree {
namespace {

constexpr std::string_view kNamesComment = "// hone: sizes ";

}  // namespace

SizeNames size_names_from(const nlohmann::json& json) {
  SizeNames names;
  if (!json.is_object()) return names;
  for (const auto& [name, extents] : json.items())
    for (const nlohmann::json& extent : extents)
      if (extent.is_string()) names[name].push_back(extent.get<std::string>());
  return names;
}

std::string comment_of(const SizeNames& names) {
  if (names.empty()) return {};
  return fmt::format("{}{}\n", kNamesComment, nlohmann::json(names).dump());
}

SizeNames size_names_in(std::string_view program) {
  while (program.starts_with("//")) {
    const std::string_view line = program.substr(0, program.find('\n'));
    program.remove_prefix(std::min(program.size(), line.size() + 1));
    if (line.starts_with(kNamesComment))
      return size_names_from(
          nlohmann::json::parse(line.substr(kNamesComment.size()), nullptr, false));
  }
  return {};
}

}  // namespace hone::iree
