#include <algorithm>

#include "base/ranges.h"
#include "provider/iree/cpu/loops.h"
#include "provider/iree/cpu/rules.h"
#include "provider/iree/cpu/space.h"
#include "space/configuration.h"

namespace hone::iree {
namespace {

using space::Value;

std::vector<Value> up_to(std::initializer_list<Value> values, Value limit) {
  std::vector<Value> kept;
  for (const Value value : values)
    if (value <= limit) kept.push_back(value);
  return kept;
}

// Register tiles: all small ones, and larger ones for loops of powers of two or three.
std::vector<Value> vector_sizes(std::int64_t size) {
  return up_to({1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64, 80, 96, 128, 256},
               size);
}

std::vector<Value> cache_sizes(std::int64_t size) {
  std::vector<Value> sizes = {0};
  for (const Value tile : tile_sizes(size))
    if (tile < size && tile > 1) sizes.push_back(tile);
  return sizes;
}

void add_knobs(RuleContext& context, space::SpaceBuilder& builder) {
  // Outer tiles first: they decide the most, and enumeration follows this order.
  const auto& loops = context.loops.loops;
  const auto each = [&](auto add) {
    for (std::size_t i = 0; i < loops.size(); ++i) add(i, loops[i]);
  };
  const auto tiled = [](const ContractionLoop& loop) {
    return loop.reduction || loop.role != problem::LoopRole::kBatch;
  };
  each([&](std::size_t i, const ContractionLoop& loop) {
    if (!loop.reduction)
      context.dist[i] = add_distribution(builder, loop.label, loop.label, tile_sizes(loop.size));
  });
  each([&](std::size_t i, const ContractionLoop& loop) {
    if (tiled(loop))
      context.cache[i] = builder.knob(
          tile_knob("cache", loop.label),
          loop.reduction ? "cache_reduction tile: steps of " + loop.label + " in one block; 0: all"
                         : "cache_parallel tile of " + loop.label + "; 0: the distribution tile",
          cache_sizes(loop.size));
  });
  each([&](std::size_t i, const ContractionLoop& loop) {
    if (!loop.reduction && tiled(loop))
      context.vec[i] =
          builder.knob(tile_knob("vec", loop.label),
                       "vector_common_parallel tile: " + loop.label + " of the register tile",
                       vector_sizes(loop.size));
  });
  each([&](std::size_t i, const ContractionLoop& loop) {
    if (loop.reduction)
      context.red[i] = builder.knob(tile_knob("red", loop.label),
                                    "vector_reduction tile: steps of " + loop.label + " unrolled",
                                    up_to({1, 2, 4, 8, 16, 32, 64}, loop.size));
  });
  context.peel = add_peeling(builder);
  if (!context.loops.interchange.empty())
    context.interchange =
        builder.knob(std::string(kInterchangeKnob),
                     "the m loops before the n loops, as outer products need them", {0, 1});
}

// The soft rules in the order in which they give way where together they leave nothing.
constexpr std::string_view kContractionRelaxationOrder[] = {"threads_evenly_busy",
                                                            "workgroups_worth_starting",
                                                            "block_reuses_inputs",
                                                            "k_block_within_pages",
                                                            "block_fits_l2",
                                                            "tiles_divide",
                                                            "peeled_rest_in_registers",
                                                            "rows_within_ways",
                                                            "accumulators_fill_registers",
                                                            "loads_below_multiplies",
                                                            "lanes_filled",
                                                            "outer_products",
                                                            "unrolled_code_small"};

}  // namespace

Result<space::Space> llvm_cpu_contraction_space(const problem::Operation& operation,
                                                const problem::CpuTarget& target,
                                                const LlvmCpuDispatchFacts& facts,
                                                std::string_view audited) {
  HONE_TRY(check_vectors(target));
  HONE_ASSIGN(const ContractionLoops loops, contraction_loops(operation));
  RuleContext context{.operation = operation,
                      .target = target,
                      .loops = loops,
                      .fused_consumers = facts.fused_consumers,
                      .dist = RuleContext::Tiles(loops.loops.size()),
                      .cache = RuleContext::Tiles(loops.loops.size()),
                      .vec = RuleContext::Tiles(loops.loops.size()),
                      .red = RuleContext::Tiles(loops.loops.size())};

  space::SpaceBuilder builder;
  add_knobs(context, builder);
  for (const auto rule : {vector_tile_within_block,
                          cache_tile_below_distribution,
                          vectors_within_compiler_limit,
                          accumulator_fits_stack,
                          peeling_needs_remainders,
                          ragged_block_fits_stack,
                          tiles_divide,
                          peeled_rest_in_registers,
                          lanes_filled,
                          accumulators_fit_registers,
                          accumulators_fill_registers,
                          rows_within_ways,
                          loads_below_multiplies,
                          unrolled_code_small,
                          outer_products,
                          narrow_inputs_unrolled,
                          k_block_amortises_accumulator,
                          k_block_within_pages,
                          block_fits_l2,
                          block_reuses_inputs,
                          cache_tile_only_where_needed,
                          batch_distributed_singly,
                          threads_evenly_busy,
                          workgroups_worth_starting})
    rule(context, builder);
  return searchable_space(std::move(builder), kContractionRelaxationOrder, audited);
}

namespace {

using space::Value;

// The level for an operation over the output's dimensions.
TileLevel over_output(const problem::Operation& operation, const TileLevel& level) {
  TileLevel tiles;
  for (const int loop : operation.operands.back().loops)
    tiles.push_back(std::max<Value>(1, level[to_index(loop)]));
  return tiles;
}

// The level for the loops as they are after an interchange (none where it is empty).
TileLevel in_order(const TileLevel& level, const std::vector<int>& interchange) {
  if (interchange.empty()) return level;
  TileLevel tiles;
  for (const int loop : interchange) tiles.push_back(level[to_index(loop)]);
  return tiles;
}

bool has_register_tile(const ContractionLoop& loop) {
  return !loop.reduction && loop.role != problem::LoopRole::kBatch;
}

}  // namespace

Result<Attributes> llvm_cpu_contraction_attributes(const problem::Operation& operation,
                                                   const space::Space& space,
                                                   const space::Configuration& configuration) {
  HONE_ASSIGN(const ContractionLoops loops, contraction_loops(operation));
  const std::size_t count = loops.loops.size();
  TileLevel distribution(count), cache_parallel(count), cache_reduction(count), parallel(count),
      reduction(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ContractionLoop& loop = loops.loops[i];
    const auto tile = [&](std::string_view level) {
      return space.value(configuration, tile_knob(level, loop.label));
    };
    if (loop.reduction) {
      HONE_ASSIGN(cache_reduction[i], tile("cache"));
      HONE_ASSIGN(reduction[i], tile("red"));
      continue;
    }
    HONE_ASSIGN(distribution[i], tile("dist"));
    parallel[i] = 1;
    if (!has_register_tile(loop)) continue;
    HONE_ASSIGN(cache_parallel[i], tile("cache"));
    HONE_ASSIGN(parallel[i], tile("vec"));
  }
  HONE_ASSIGN(const Value peel, space.value(configuration, "peel"));

  Attributes attributes;
  const TileLevel tiles = over_output(operation, parallel);
  if (!loops.interchange.empty()) {
    HONE_ASSIGN(const Value interchange, space.value(configuration, kInterchangeKnob));
    if (interchange != 0) attributes.interchange = loops.interchange;
  }
  for (TileLevel* level : {&distribution, &cache_parallel, &cache_reduction, &parallel, &reduction})
    *level = in_order(*level, attributes.interchange);
  attributes.lowering_config = lowering_config_text({{"distribution", distribution},
                                                     {"cache_parallel", cache_parallel},
                                                     {"cache_reduction", cache_reduction},
                                                     {"vector_common_parallel", parallel},
                                                     {"vector_reduction", reduction}});
  attributes.translation_info = translation_info_text("DoubleTilingExpert", peel != 0);
  if (is_used(cache_reduction)) {
    // IREE tiles a producer of the root at the vector_reduction level (LLVMCPUTile) and its
    // consumers at vector_common_parallel (LLVMCPUTileToVectorSize).
    attributes.init_config = lowering_config_text({{"vector_reduction", tiles}});
    attributes.consumer_config = lowering_config_text({{"vector_common_parallel", tiles}});
  }
  return attributes;
}

}  // namespace hone::iree
