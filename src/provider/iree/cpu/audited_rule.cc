#include "provider/iree/cpu/audited_rule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hone::iree {
namespace {

using space::Hardness;

// Each name once, in the order of the statement.
std::vector<std::string> names_of(const std::vector<space::Constraint>& constraints,
                                  Hardness hardness) {
  std::vector<std::string> names;
  for (const space::Constraint& each : constraints)
    if (each.hardness == hardness && std::ranges::count(names, each.name) == 0)
      names.push_back(each.name);
  return names;
}

// The soft rules with those that give way in front, in that order.
std::vector<std::string> by_worth(const space::Space& space,
                                  std::span<const std::string_view> relaxation_order) {
  std::vector<std::string> names = names_of(space.constraints(), Hardness::kSoft);
  const auto place = [&](const std::string& name) {
    return std::ranges::find(relaxation_order, name) - relaxation_order.begin();
  };
  std::ranges::stable_sort(
      names, [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  return names;
}

}  // namespace

Result<space::Space> space_outside(std::string_view rule, space::SpaceBuilder builder,
                                   std::span<const std::string_view> relaxation_order) {
  const std::vector<std::string> rules =
      names_of(builder.definition().constraints, Hardness::kHard);
  if (!builder.oppose(rule))
    return input_error("'{}' is none of the hard rules here: {}", rule, fmt::join(rules, "; "));
  HONE_ASSIGN(const space::Space strict, builder.build());
  if (!strict.empty()) return strict;
  std::vector<std::string> left_out = by_worth(strict, relaxation_order);
  if (left_out.empty()) return strict;
  HONE_ASSIGN(space::Space outside, strict.relax(left_out));
  if (outside.empty()) return outside;
  // Restore rules from the end of the order, which holds the most valuable ones.
  for (std::size_t i = left_out.size(); i-- > 0;) {
    std::vector<std::string> fewer = left_out;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    HONE_ASSIGN(space::Space stricter, strict.relax(fewer));
    if (stricter.empty()) continue;
    left_out = std::move(fewer);
    outside = std::move(stricter);
  }
  return outside;
}

}  // namespace hone::iree
