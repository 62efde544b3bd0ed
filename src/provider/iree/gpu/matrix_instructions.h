// The matrix instructions that IREE 3.13 has for a GPU (the `mma` lists of its #iree_gpu.target
// attributes, printed by --compile-to=executable-sources).
#pragma once

#include <string>
#include <vector>

#include "problem/target.h"
#include "problem/types.h"

namespace hone::iree {

struct MatrixInstruction {
  std::string name;  // "NV_MMA_SYNC_F32_16x8x16_F16"
  int m = 0, n = 0, k = 0;
};

// Instructions that multiply `input` and accumulate in `output`; empty if there are none.
std::vector<MatrixInstruction> matrix_instructions(const problem::GpuTarget& target,
                                                   problem::ElementType input,
                                                   problem::ElementType output);

}  // namespace hone::iree
