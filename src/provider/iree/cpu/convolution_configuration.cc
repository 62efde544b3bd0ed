#include "provider/iree/cpu/convolution_loops.h"
#include "provider/iree/cpu/convolution_space.h"
#include "provider/iree/cpu/knobs.h"
#include "provider/iree/cpu/lowering_config.h"
#include "space/configuration.h"

namespace hone::iree {

using space::Value;

Result<Attributes> llvm_cpu_convolution_attributes(const problem::Operation& operation,
                                                   const space::Space& space,
                                                   const space::Configuration& configuration) {
  HONE_ASSIGN(const ConvolutionLoops loops, convolution_loops(operation));
  const std::size_t count = loops.nest.loops.size();
  TileLevel distribution(count), parallel(count), reduction(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ContractionLoop& loop = loops.nest.loops[i];
    const auto tile = [&](std::string_view level) {
      return space.value(configuration, tile_knob(level, loop.label));
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

  Attributes attributes;
  attributes.lowering_config = lowering_config_text({{"distribution", distribution},
                                                     {"vector_common_parallel", parallel},
                                                     {"vector_reduction", reduction}});
  attributes.translation_info = translation_info_text(
      decompose != 0 ? "ConvTileAndDecomposeExpert" : "DoubleTilingExpert", peel != 0);
  return attributes;
}

}  // namespace hone::iree
