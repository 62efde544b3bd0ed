#include <algorithm>
#include <set>

#include "provider/iree/cpu/rules.h"
#include "provider/iree/cpu/space.h"
#include "space/configuration.h"

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

namespace {

using problem::SurroundingOperation;
using space::Value;

std::string_view pipeline_of(const problem::Operation& root) {
  return root.kind == problem::OperationKind::kAttention ? "LinalgExtTileAndVectorize"
                                                         : "DoubleTilingExpert";
}

// Tiles by the root's loops; 0 where a loop has no such knob.
struct Tiles {
  TileLevel distribution, parallel, reduction, inner;
};

Tiles tiles_of(const problem::Operation& root, const space::Space& space,
               const space::Configuration& configuration) {
  const std::size_t count = root.loops.size();
  Tiles tiles{TileLevel(count), TileLevel(count), TileLevel(count), TileLevel(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const auto tile = [&](std::string_view level) {
      return space.value(configuration, tile_knob(level, std::to_string(i))).value_or(0);
    };
    if (root.loops[i].reduction) {
      tiles.reduction[i] = tile("red");
      tiles.inner[i] = tile("inner");
    } else {
      tiles.distribution[i] = tile("dist");
      tiles.parallel[i] = tile("vec");
    }
  }
  return tiles;
}

// IREE (MultiLoweringConfigGenerator::setNewTilingConfigs): a neighbour's loop has the tile of the
// root's loop that walks the same dimension. Producers of the root's operands run inside of its
// reduction loops; readers of its result walk along them on their own.
std::string surrounding_text(const SurroundingOperation& operation, const problem::Operation& root,
                             const Tiles& tiles) {
  const std::size_t count = operation.loops.size();
  TileLevel parallel(count), reduction(count), inner(count);
  for (std::size_t l = 0; l < count; ++l) {
    const bool reduces = operation.loops[l].reduction;
    if (operation.root_loops[l] < 0) {
      // A dimension of its own goes one by one, the one in a row of memory by a small vector.
      const Value tile = l + 1 == count && !reduces
                             ? std::min<Value>(16, std::max<Value>(1, operation.loops[l].size))
                             : 1;
      (reduces ? reduction : inner)[l] = tile;
      continue;
    }
    const auto loop = static_cast<std::size_t>(operation.root_loops[l]);
    if (!root.loops[loop].reduction)
      (reduces ? reduction : parallel)[l] = tiles.parallel[loop];
    else if (reduces || operation.feeds_root)
      reduction[l] = tiles.reduction[loop];
    else
      inner[l] = tiles.inner[loop];
  }
  return lowering_config_text({{"vector_common_parallel", parallel},
                               {"vector_reduction", reduction},
                               {"vector_inner_parallel", inner}});
}

}  // namespace

Result<Attributes> llvm_cpu_generic_attributes(const problem::Dispatch& dispatch,
                                               const space::Space& space,
                                               const space::Configuration& configuration) {
  const problem::Operation& root = dispatch.root;
  for (std::size_t i = 0; i < root.loops.size(); ++i)
    if (!root.loops[i].reduction) HONE_TRY(space.knob_index(tile_knob("dist", std::to_string(i))));
  const Tiles tiles = tiles_of(root, space, configuration);
  Attributes attributes;
  attributes.lowering_config = lowering_config_text({{"distribution", tiles.distribution},
                                                     {"vector_common_parallel", tiles.parallel},
                                                     {"vector_reduction", tiles.reduction}});
  const bool peeled = space.value(configuration, "peel").value_or(0) != 0;
  attributes.translation_info = translation_info_text(pipeline_of(root), peeled);
  for (const SurroundingOperation& operation : dispatch.surrounding)
    attributes.surrounding_configs.push_back(surrounding_text(operation, root, tiles));
  return attributes;
}

}  // namespace hone::iree
