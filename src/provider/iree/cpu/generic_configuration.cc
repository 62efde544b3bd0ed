#include <algorithm>

#include "provider/iree/cpu/generic_space.h"
#include "provider/iree/cpu/knobs.h"
#include "provider/iree/cpu/lowering_config.h"
#include "space/configuration.h"

namespace hone::iree {
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
