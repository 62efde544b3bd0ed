#include "provider/iree/llvm_cpu_convolution_loops.h"
#include "provider/iree/llvm_cpu_convolution_space.h"
#include "provider/iree/llvm_cpu_lowering_config.h"
#include "provider/iree/llvm_cpu_space.h"
#include "space/configuration.h"

namespace hone::iree {
namespace {

using space::Value;

constexpr std::string_view kDecomposing = "#iree_cpu.pipeline<ConvTileAndDecomposeExpert>";
constexpr std::string_view kDoubleTiling = "#iree_cpu.pipeline<DoubleTilingExpert>";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace

Result<LlvmCpuAttributes> llvm_cpu_convolution_attributes(
    const problem::Operation& operation, const space::Space& space,
    const space::Configuration& configuration) {
  HONE_ASSIGN(const ConvolutionLoops loops, convolution_loops(operation));
  const std::size_t count = loops.nest.loops.size();
  TileLevel distribution(count), parallel(count), reduction(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ContractionLoop& loop = loops.nest.loops[i];
    const auto tile = [&](std::string_view level) {
      return space.value(configuration, tile_knob(level, loop));
    };
    if (loop.reduction) {
      HONE_ASSIGN(reduction[i], tile("red"));
      continue;
    }
    HONE_ASSIGN(distribution[i], tile("dist"));
    parallel[i] = 1;
    if (loop.role == problem::LoopRole::kBatch) continue;
    HONE_ASSIGN(parallel[i], tile("vec"));
  }
  HONE_ASSIGN(const Value peel, space.value(configuration, "peel"));
  HONE_ASSIGN(const Value decompose, space.value(configuration, "decompose"));

  LlvmCpuAttributes attributes;
  attributes.lowering_config = lowering_config_text({{"distribution", distribution},
                                                     {"vector_common_parallel", parallel},
                                                     {"vector_reduction", reduction}});
  attributes.translation_info = fmt::format("#iree_codegen.translation_info<pipeline = {}{}>",
                                            decompose != 0 ? kDecomposing : kDoubleTiling,
                                            peel != 0 ? fmt::format(", {{{}}}", kPeeling) : "");
  return attributes;
}

Result<space::Configuration> llvm_cpu_convolution_configuration_from(
    const problem::Operation& operation, const space::Space& space,
    std::string_view lowering_config, std::string_view translation_info) {
  if (!has(translation_info, kDecomposing) && !has(translation_info, kDoubleTiling))
    return input_error(
        "'{}' is neither pipeline of hone's llvm-cpu space of convolutions, {} and {}",
        translation_info, kDecomposing, kDoubleTiling);
  HONE_ASSIGN(const ConvolutionLoops loops, convolution_loops(operation));
  const std::size_t count = loops.nest.loops.size();
  HONE_ASSIGN(auto levels, lowering_config_levels(lowering_config));
  const TileLevel distribution = take_level(levels, "distribution", count),
                  parallel = take_level(levels, "vector_common_parallel", count),
                  reduction = take_level(levels, "vector_reduction", count);
  HONE_TRY(expect_unused(levels, "convolutions"));

  space::Configuration configuration;
  configuration.values.resize(space.knobs().size());
  const auto set = [&](std::string_view knob, Value value) {
    return space::set_value(space, configuration, knob, value);
  };
  for (std::size_t i = 0; i < count; ++i) {
    const ContractionLoop& loop = loops.nest.loops[i];
    if (loop.reduction) {
      HONE_TRY(set(tile_knob("red", loop), clip_tile(reduction[i], loop.size)));
      continue;
    }
    const Value outer = clip_tile(distribution[i], loop.size),
                inner = clip_tile(parallel[i], outer);
    HONE_TRY(set(tile_knob("dist", loop), outer));
    if (loop.role != problem::LoopRole::kBatch)
      HONE_TRY(set(tile_knob("vec", loop), inner));
    else if (inner != 1)
      return input_error("the space computes one image at a time, the configuration {}", inner);
  }
  HONE_TRY(set("decompose", has(translation_info, kDecomposing) ? 1 : 0));
  HONE_TRY(set("peel", has(translation_info, kPeeling) ? 1 : 0));
  return configuration;
}

}  // namespace hone::iree
