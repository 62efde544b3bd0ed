#include "provider/iree/giving_way.h"

#include <algorithm>
#include <string>
#include <vector>

namespace hone::iree {

Result<space::Space> without_contradictions(const space::Space& space,
                                            std::span<const std::string_view> giving_way) {
  if (!space.empty()) return space;
  const auto has = [&](std::string_view name) {
    return std::any_of(space.constraints().begin(), space.constraints().end(),
                       [&](const space::Constraint& each) { return each.name == name; });
  };
  std::vector<std::string> names;
  for (const std::string_view name : giving_way) {
    if (!has(name)) continue;
    HONE_ASSIGN(space::Space relaxed, space.relax({std::string(name)}));
    if (!relaxed.empty()) return relaxed;
    names.emplace_back(name);
  }
  for (std::size_t count = 2; count <= names.size(); ++count) {
    const std::vector<std::string> first(names.begin(),
                                         names.begin() + static_cast<std::ptrdiff_t>(count));
    HONE_ASSIGN(space::Space relaxed, space.relax(first));
    if (!relaxed.empty()) return relaxed;
  }
  return space.relax({"all"});
}

}  // namespace hone::iree
