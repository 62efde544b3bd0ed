#include "provider/iree/cpu/generic_space.h"

#include <algorithm>
#include <set>

#include "provider/iree/cpu/generic_rules.h"
#include "provider/iree/cpu/knobs.h"
#include "provider/iree/cpu/lowering_config.h"
#include "provider/iree/cpu/rule_relaxation.h"

namespace hone::iree {
namespace {

using problem::OperationKind;
using space::Value;

std::string knob_name(std::string_view level, std::size_t loop) {
  return tile_knob(level, std::to_string(loop));
}

// The query's and the key's common loop that the output lacks: IREE never tiles it below 128, and
// does not tile the scores along it.
bool is_head(const problem::Operation& root, std::size_t loop) {
  const auto walks = [&](std::size_t operand) {
    const auto& loops = root.operands[operand].loops;
    return std::ranges::count(loops, static_cast<int>(loop)) > 0;
  };
  return root.kind == OperationKind::kAttention && walks(0) && walks(1) && !walks(2);
}

// Whether something that reads the root's result walks along its reduction loop once more.
bool is_walked_again(const problem::Dispatch& dispatch, std::size_t loop) {
  return std::ranges::any_of(dispatch.surrounding, [&](const problem::SurroundingOperation& each) {
    for (std::size_t l = 0; l < each.loops.size(); ++l)
      if (!each.feeds_root && !each.loops[l].reduction &&
          each.root_loops[l] == static_cast<int>(loop))
        return true;
    return false;
  });
}

std::vector<Value> vector_tiles(Value size, Value most, Value chosen) {
  std::set<Value> tiles;
  for (Value tile = 1; tile <= std::min(size, most); tile *= 2) tiles.insert(tile);
  if (size < most) tiles.insert(size);
  if (chosen > 0) tiles.insert(std::min(chosen, size));
  return {tiles.begin(), tiles.end()};
}

std::vector<Value> with(std::vector<Value> tiles, Value chosen) {
  if (chosen > 0 && std::ranges::count(tiles, chosen) == 0) {
    tiles.push_back(chosen);
    std::ranges::sort(tiles);
  }
  return tiles;
}

// The compiler's own tile of a loop; 0 where it has none.
class Defaults {
 public:
  explicit Defaults(const problem::Dispatch& dispatch) {
    if (auto levels = lowering_config_levels(dispatch.default_configuration))
      levels_ = std::move(*levels);
  }
  Value tile(std::string_view level, std::size_t loop) const {
    const auto found = levels_.find(level);
    return found == levels_.end() || loop >= found->second.size() ? 0 : found->second[loop];
  }

 private:
  std::map<std::string, TileLevel, std::less<>> levels_;
};

Status check_root(const problem::Dispatch& dispatch) {
  const problem::Operation& root = dispatch.root;
  if (!has_generic_space(dispatch))
    return input_error("{} is none of the operations of this space", describe(root));
  if (is_dynamic(root))
    return input_error("{} has a loop whose size is known only at run time", describe(root));
  // Its extent would follow from the window's and the image's.
  if (std::ranges::find(root.loops, 0, &problem::Loop::size) != root.loops.end())
    return input_error("{} has a loop that no operand is indexed by alone", describe(root));
  if (std::ranges::none_of(root.loops, [](const problem::Loop& loop) { return !loop.reduction; }))
    return input_error("{} has a scalar result: there is no loop to tile in parallel",
                       describe(root));
  if (root.kind == OperationKind::kAttention && root.operands.size() < 4)
    return input_error("{} has {} operands; an attention has a query, a key, a value and a result",
                       describe(root), root.operands.size());
  return {};
}

void add_knobs(GenericRules& rules, space::SpaceBuilder& builder) {
  const problem::Dispatch& dispatch = rules.dispatch;
  const Defaults defaults(dispatch);
  const auto lane_loops = rules.lane_loops();
  // The largest tile: eight registers along contiguous memory, 32 iterations of other loops.
  const auto most = [&](std::size_t loop) -> Value {
    const bool lane = std::ranges::count(lane_loops, loop) > 0;
    return lane ? 8 * rules.lanes() : 32;
  };
  const auto each = [&](bool reduction, auto add) {
    for (std::size_t i = 0; i < rules.loops().size(); ++i)
      if (rules.loops()[i].reduction == reduction) add(i, rules.loops()[i].size);
  };
  each(false, [&](std::size_t i, Value size) {
    rules.dist[i] =
        add_distribution(builder, std::to_string(i), fmt::format("loop {}", i),
                         with(tile_sizes(size), std::min(size, defaults.tile("distribution", i))));
  });
  each(false, [&](std::size_t i, Value size) {
    rules.vec[i] =
        builder.knob(knob_name("vec", i), fmt::format("vector_common_parallel tile of loop {}", i),
                     vector_tiles(size, most(i), defaults.tile("vector_common_parallel", i)));
  });
  each(true, [&](std::size_t i, Value size) {
    if (is_head(dispatch.root, i) && defaults.tile("vector_reduction", i) == 0) return;
    const Value chosen = defaults.tile("vector_reduction", i);
    rules.red[i] =
        builder.knob(knob_name("red", i), fmt::format("vector_reduction tile of loop {}", i),
                     vector_tiles(size, most(i), chosen));
    if (is_walked_again(dispatch, i))
      rules.inner[i] = builder.knob(
          knob_name("inner", i),
          fmt::format("vector_inner_parallel tile of what walks along loop {} again", i),
          vector_tiles(size, most(i), chosen));
  });
  if (!rules.attention) rules.peel = add_peeling(builder);
}

// The soft rules in the order in which they give way where together they leave nothing.
constexpr std::string_view kGenericRelaxationOrder[] = {
    "threads_evenly_busy", "workgroups_worth_starting", "vectors_fit_registers", "tiles_divide",
    "lanes_filled"};

}  // namespace

bool has_generic_space(const problem::Dispatch& dispatch) {
  const OperationKind kind = dispatch.root.kind;
  return kind == OperationKind::kReduction || kind == OperationKind::kElementwise ||
         kind == OperationKind::kAttention || dispatch.root.name == "linalg.softmax";
}

Result<space::Space> llvm_cpu_generic_space(const problem::Dispatch& dispatch,
                                            const problem::CpuTarget& target,
                                            std::string_view audited) {
  HONE_TRY(check_vectors(target));
  HONE_TRY(check_root(dispatch));
  const std::size_t loops = dispatch.root.loops.size();
  GenericRules rules{.dispatch = dispatch,
                     .target = target,
                     .attention = dispatch.root.kind == OperationKind::kAttention,
                     .dist = GenericRules::Tiles(loops),
                     .vec = GenericRules::Tiles(loops),
                     .red = GenericRules::Tiles(loops),
                     .inner = GenericRules::Tiles(loops),
                     .peel = std::nullopt};
  space::SpaceBuilder builder;
  add_knobs(rules, builder);
  generic_vector_within_workgroup(rules, builder);
  generic_vectors_within_compiler_limit(rules, builder);
  generic_peeling_needs_remainders(rules, builder);
  generic_tiles_divide(rules, builder);
  if (!rules.is_scalar()) {
    generic_lanes_filled(rules, builder);
    generic_vectors_fit_registers(rules, builder);
  }
  generic_threads_evenly_busy(rules, builder);
  generic_workgroups_worth_starting(rules, builder);
  return searchable_space(std::move(builder), kGenericRelaxationOrder, audited);
}

}  // namespace hone::iree
