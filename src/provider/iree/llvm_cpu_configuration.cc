#include "provider/iree/llvm_cpu_configuration.h"

#include <algorithm>

#include "provider/iree/llvm_cpu_loops.h"
#include "provider/iree/llvm_cpu_lowering_config.h"
#include "provider/iree/llvm_cpu_space.h"

namespace hone::iree {
namespace {

using space::Value;

constexpr std::string_view kPipeline = "#iree_cpu.pipeline<DoubleTilingExpert>";
constexpr std::string_view kPeeling = "enable_loop_peeling";

using Level = TileLevel;

std::string level_text(std::string_view name, const Level& tiles) {
  return fmt::format("{} = [{}]", name, fmt::join(tiles, ", "));
}

// The level for an operation over the output's dimensions.
Level over_output(const problem::Operation& operation, const Level& level) {
  Level tiles;
  for (const int loop : operation.operands.back().loops)
    tiles.push_back(std::max<Value>(1, level[static_cast<std::size_t>(loop)]));
  return tiles;
}

bool has_register_tile(const ContractionLoop& loop) {
  return !loop.reduction && loop.role != problem::LoopRole::kBatch;
}

}  // namespace

Result<LlvmCpuAttributes> llvm_cpu_attributes(const problem::Operation& operation,
                                              const space::Space& space,
                                              const space::Configuration& configuration) {
  HONE_ASSIGN(const ContractionLoops loops, contraction_loops(operation));
  const std::size_t count = loops.loops.size();
  Level distribution(count), cache_parallel(count), cache_reduction(count), parallel(count),
      reduction(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ContractionLoop& loop = loops.loops[i];
    const auto tile = [&](std::string_view level) {
      return space.value(configuration, tile_knob(level, loop));
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

  std::vector<std::string> levels = {level_text("distribution", distribution)};
  if (is_used(cache_parallel)) levels.push_back(level_text("cache_parallel", cache_parallel));
  if (is_used(cache_reduction)) levels.push_back(level_text("cache_reduction", cache_reduction));
  levels.push_back(level_text("vector_common_parallel", parallel));
  levels.push_back(level_text("vector_reduction", reduction));

  LlvmCpuAttributes attributes;
  attributes.lowering_config =
      fmt::format("#iree_cpu.lowering_config<{}>", fmt::join(levels, ", "));
  attributes.translation_info =
      fmt::format("#iree_codegen.translation_info<pipeline = {}{}>", kPipeline,
                  peel != 0 ? fmt::format(", {{{}}}", kPeeling) : "");
  if (is_used(cache_reduction)) {
    const Level tiles = over_output(operation, parallel);
    // IREE tiles a producer of the root at the vector_reduction level (LLVMCPUTile) and its
    // consumers at vector_common_parallel (LLVMCPUTileToVectorSize).
    attributes.init_config =
        fmt::format("#iree_cpu.lowering_config<{}>", level_text("vector_reduction", tiles));
    attributes.consumer_config =
        fmt::format("#iree_cpu.lowering_config<{}>", level_text("vector_common_parallel", tiles));
  }
  return attributes;
}

Result<space::Configuration> llvm_cpu_configuration_from(const problem::Operation& operation,
                                                         const space::Space& space,
                                                         std::string_view lowering_config,
                                                         std::string_view translation_info) {
  if (translation_info.find(kPipeline) == translation_info.npos)
    return input_error("'{}' is not the pipeline of hone's llvm-cpu space, {}", translation_info,
                       kPipeline);
  HONE_ASSIGN(const ContractionLoops loops, contraction_loops(operation));
  HONE_ASSIGN(auto levels, lowering_config_levels(lowering_config));
  const auto take = [&](std::string_view name) {
    Level level(loops.loops.size(), 0);
    if (const auto found = levels.find(name); found != levels.end()) {
      std::copy_n(found->second.begin(), std::min(level.size(), found->second.size()),
                  level.begin());
      levels.erase(found);
    }
    return level;
  };
  const Level distribution = take("distribution"), cache_parallel = take("cache_parallel"),
              cache_reduction = take("cache_reduction"), parallel = take("vector_common_parallel"),
              reduction = take("vector_reduction");
  for (const auto& [name, level] : levels)
    if (is_used(level))
      return input_error("the llvm-cpu space of contractions has no level '{}'", name);

  space::Configuration configuration;
  configuration.values.resize(space.knobs().size());
  const auto set = [&](const std::string& knob, Value value) -> Status {
    HONE_ASSIGN(const std::size_t index, space.knob_index(knob));
    if (!contains(space.knobs()[index], value))
      return input_error("{} = {} is not among the values of the space", knob, value);
    configuration.values[index] = value;
    return {};
  };
  for (std::size_t i = 0; i < loops.loops.size(); ++i) {
    const ContractionLoop& loop = loops.loops[i];
    // IREE clips a tile to the extent it tiles; 0 leaves the extent whole.
    const auto clip = [](Value tile, Value extent) {
      return tile == 0 || tile > extent ? extent : tile;
    };
    const auto below = [](Value tile, Value extent) { return tile < extent ? tile : 0; };
    const Value outer = loop.reduction ? loop.size : clip(distribution[i], loop.size);
    const Value cache = below(loop.reduction ? cache_reduction[i] : cache_parallel[i], outer);
    const Value inner = cache == 0 ? outer : cache;
    if (loop.reduction) {
      HONE_TRY(set(tile_knob("cache", loop), cache));
      HONE_TRY(set(tile_knob("red", loop), clip(reduction[i], inner)));
      continue;
    }
    HONE_TRY(set(tile_knob("dist", loop), outer));
    if (!has_register_tile(loop)) {
      if (cache != 0 || clip(parallel[i], inner) != 1)
        return input_error(
            "the space computes one iteration of batch loop {} at a time, the "
            "configuration {}",
            loop.label, clip(parallel[i], inner));
      continue;
    }
    HONE_TRY(set(tile_knob("cache", loop), cache));
    HONE_TRY(set(tile_knob("vec", loop), clip(parallel[i], inner)));
  }
  HONE_TRY(set("peel", translation_info.find(kPeeling) != translation_info.npos ? 1 : 0));
  return configuration;
}

}  // namespace hone::iree
