// Spaces of a real compiler, stated as it states them; for tests and benchmarks.
#pragma once

#include "space/space.h"

namespace hone::space::known {

struct Matmul {
  Value m, n, k;
};

// The constraints that IREE 3.13 states for f16 x f16 -> f32 matmuls on gfx942, by
// `iree-compile --iree-codegen-emit-pipeline-constraints`; assertions that repeat another are left
// out, knobs have no bounds but those the assertions give.
SpaceBuilder tile_and_fuse(Matmul size);
SpaceBuilder vector_distribute(Matmul size);

}  // namespace hone::space::known
