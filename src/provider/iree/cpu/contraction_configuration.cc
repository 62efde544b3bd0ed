#include <algorithm>

#include "provider/iree/cpu/contraction_space.h"
#include "provider/iree/cpu/knobs.h"
#include "provider/iree/cpu/loops.h"
#include "provider/iree/cpu/lowering_config.h"
#include "space/configuration.h"

namespace hone::iree {
namespace {

using space::Value;

using Level = TileLevel;

// The level for an operation over the output's dimensions.
Level over_output(const problem::Operation& operation, const Level& level) {
  Level tiles;
  for (const int loop : operation.operands.back().loops)
    tiles.push_back(std::max<Value>(1, level[static_cast<std::size_t>(loop)]));
  return tiles;
}

// The level for the loops as they are after an interchange (none where it is empty).
Level in_order(const Level& level, const std::vector<int>& interchange) {
  if (interchange.empty()) return level;
  Level tiles;
  for (const int loop : interchange) tiles.push_back(level[static_cast<std::size_t>(loop)]);
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
  Level distribution(count), cache_parallel(count), cache_reduction(count), parallel(count),
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
  const Level tiles = over_output(operation, parallel);
  if (!loops.interchange.empty()) {
    HONE_ASSIGN(const Value interchange, space.value(configuration, kInterchangeKnob));
    if (interchange != 0) attributes.interchange = loops.interchange;
  }
  for (Level* level : {&distribution, &cache_parallel, &cache_reduction, &parallel, &reduction})
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
