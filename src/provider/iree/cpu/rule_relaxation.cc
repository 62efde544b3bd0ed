#include "provider/iree/cpu/rule_relaxation.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "provider/iree/cpu/audited_rule.h"

namespace hone::iree {
namespace {

// Fewer are tried before a search has begun.
constexpr std::uint64_t kWorthSearching = 16;
// A problem that is small itself has few configurations with and without a rule.
constexpr std::uint64_t kTimesAsMany = 16;

// `space` without the first of `names` that alone leaves at least `fewest` configurations.
Result<std::optional<space::Space>> without_one(const space::Space& space,
                                                const std::vector<std::string>& names,
                                                std::uint64_t fewest) {
  for (const std::string& name : names) {
    HONE_ASSIGN(space::Space relaxed, space.relax({name}));
    if (relaxed.count().value >= fewest) return relaxed;
  }
  return std::nullopt;
}

}  // namespace

Result<space::Space> relaxed_to_searchable(const space::Space& space,
                                           std::span<const std::string_view> relaxation_order) {
  const std::uint64_t count = space.count().value;
  if (count >= kWorthSearching) return space;
  std::vector<std::string> names;
  for (const std::string_view name : relaxation_order)
    if (std::ranges::any_of(space.constraints(),
                            [&](const space::Constraint& each) { return each.name == name; }))
      names.emplace_back(name);
  HONE_ASSIGN(std::optional<space::Space> relaxed,
              without_one(space, names, std::max(kWorthSearching, kTimesAsMany * count)));
  if (relaxed) return std::move(*relaxed);
  if (count > 0) return space;
  HONE_ASSIGN(relaxed, without_one(space, names, 1));
  if (relaxed) return std::move(*relaxed);
  for (std::size_t n = 2; n <= names.size(); ++n) {
    const std::vector<std::string> first(names.begin(),
                                         names.begin() + static_cast<std::ptrdiff_t>(n));
    HONE_ASSIGN(space::Space without, space.relax(first));
    if (!without.empty()) return without;
  }
  return space.relax({"all"});
}

Result<space::Space> searchable_space(space::SpaceBuilder builder,
                                      std::span<const std::string_view> relaxation_order,
                                      std::string_view audited) {
  if (!audited.empty()) return space_outside(audited, std::move(builder), relaxation_order);
  HONE_ASSIGN(const space::Space space, builder.build());
  return relaxed_to_searchable(space, relaxation_order);
}

}  // namespace hone::iree
