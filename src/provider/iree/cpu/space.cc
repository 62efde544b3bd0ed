#include "provider/iree/cpu/space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace hone::iree {

using space::Value;

bool is_used(const TileLevel& level) {
  return std::ranges::any_of(level, [](Value tile) { return tile != 0; });
}

std::string lowering_config_text(
    const std::vector<std::pair<std::string_view, TileLevel>>& levels) {
  std::vector<std::string> texts;
  for (const auto& [name, tiles] : levels)
    if (is_used(tiles)) texts.push_back(fmt::format("{} = [{}]", name, fmt::join(tiles, ", ")));
  return texts.empty() ? std::string()
                       : fmt::format("#iree_cpu.lowering_config<{}>", fmt::join(texts, ", "));
}

Result<TileLevels> lowering_config_levels(std::string_view text) {
  const auto malformed = [&] {
    return input_error(
        "'{}' is not of the form #iree_cpu.lowering_config<level = [tile, ...], "
        "...> with plain sizes",
        text);
  };
  constexpr std::string_view kPrefix = "#iree_cpu.lowering_config<";
  if (!text.starts_with(kPrefix) || !text.ends_with('>')) return malformed();
  std::string_view rest = text.substr(kPrefix.size(), text.size() - kPrefix.size() - 1);
  TileLevels levels;
  while (!rest.empty()) {
    const std::size_t open = rest.find('['), close = rest.find(']');
    const std::size_t equals = rest.find('=');
    if (equals == rest.npos || open == rest.npos || close == rest.npos || equals > open ||
        open > close)
      return malformed();
    const std::size_t begin = rest.find_first_not_of(", \n");
    std::string_view name = rest.substr(begin, rest.find_first_of(" =", begin) - begin);
    TileLevel tiles;
    std::string_view list = rest.substr(open + 1, close - open - 1);
    while (!list.empty()) {
      list.remove_prefix(std::min(list.find_first_not_of(", "), list.size()));
      if (list.empty()) break;
      Value tile = 0;
      const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), tile);
      if (error != std::errc()) return malformed();
      tiles.push_back(tile);
      list.remove_prefix(static_cast<std::size_t>(end - list.data()));
    }
    levels.emplace(name, std::move(tiles));
    rest.remove_prefix(close + 1);
    if (rest.find_first_not_of(", \n") == rest.npos) break;
  }
  return levels;
}

using space::Value;

Status check_vectors(const problem::CpuTarget& target) {
  if (target.vector_bits >= 64 && target.vector_registers >= 1 && target.cores >= 1) return {};
  return input_error(
      "the target has {}-bit vectors, {} vector registers and {} cores; the llvm-cpu space needs "
      "vectors of 64 bits or more",
      target.vector_bits, target.vector_registers, target.cores);
}

std::string tile_knob(std::string_view level, std::string_view label) {
  return fmt::format("{}_{}", level, label);
}

std::vector<Value> tile_sizes(std::int64_t size) {
  std::set<Value> sizes = {size};
  for (Value divisor = 1; divisor * divisor <= size; ++divisor)
    if (size % divisor == 0) sizes.insert({divisor, size / divisor});
  for (Value power = 1; power < size; power *= 2) {
    sizes.insert(power);
    if (3 * power < size) sizes.insert(3 * power);
  }
  return {sizes.begin(), sizes.end()};
}

space::Expression add_distribution(space::SpaceBuilder& builder, std::string_view label,
                                   std::string_view loop, std::vector<Value> sizes) {
  return builder.knob(tile_knob("dist", label),
                      fmt::format("distribution tile: iterations of {} in one workgroup", loop),
                      std::move(sizes));
}

space::Expression add_peeling(space::SpaceBuilder& builder) {
  return builder.knob("peel",
                      "enable_loop_peeling: code of their own for boundary tiles, instead of masks",
                      {0, 1});
}

std::string translation_info_text(std::string_view pipeline, bool peeled) {
  return fmt::format("#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<{}>{}>",
                     pipeline, peeled ? fmt::format(", {{{}}}", kPeeling) : "");
}

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

// Returns `space` if its soft rules together leave at least 16 configurations: fewer are not worth
// a search (odd extents, small problems). Otherwise drops the first rule of `relaxation_order`
// whose removal alone leaves 16, and 16 times as many as now. If there is no such rule, returns a
// non-empty `space` unchanged. For an empty one, drops the first rule whose removal alone leaves
// any configuration. If that fails too, drops as many rules as it takes, in that order, or all soft
// rules.
// Errors: the space's own.
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

}  // namespace

Result<space::Space> searchable_space(space::SpaceBuilder builder,
                                      std::span<const std::string_view> relaxation_order,
                                      std::string_view audited) {
  if (!audited.empty()) return space_outside(audited, std::move(builder), relaxation_order);
  HONE_ASSIGN(const space::Space space, builder.build());
  return relaxed_to_searchable(space, relaxation_order);
}

namespace {

bool is_fill(const std::string& fused) {
  return fused.starts_with("fill");
}

bool is_convolution(const problem::Dispatch& dispatch) {
  return dispatch.root.kind == problem::OperationKind::kConvolution;
}

}  // namespace

Result<space::Space> cpu_space(const problem::Dispatch& dispatch, const problem::CpuTarget& target,
                               std::string_view audited) {
  if (is_convolution(dispatch)) return llvm_cpu_convolution_space(dispatch.root, target, audited);
  if (has_generic_space(dispatch)) return llvm_cpu_generic_space(dispatch, target, audited);
  LlvmCpuDispatchFacts facts;
  facts.fused_consumers = !std::ranges::all_of(dispatch.fused, is_fill);
  return llvm_cpu_contraction_space(dispatch.root, target, facts, audited);
}

Result<Attributes> cpu_attributes(const problem::Dispatch& dispatch, const space::Space& space,
                                  const space::Configuration& configuration) {
  if (is_convolution(dispatch))
    return llvm_cpu_convolution_attributes(dispatch.root, space, configuration);
  if (has_generic_space(dispatch))
    return llvm_cpu_generic_attributes(dispatch, space, configuration);
  HONE_ASSIGN(Attributes attributes,
              llvm_cpu_contraction_attributes(dispatch.root, space, configuration));
  // A root that accumulates into what it is given (a bias that was broadcast before it) has no fill
  // when a spec is applied; the compiler makes one later.
  if (std::ranges::none_of(dispatch.fused, is_fill)) attributes.init_config.clear();
  return attributes;
}

}  // namespace hone::iree
