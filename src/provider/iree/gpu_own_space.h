// hone's own spaces for operations on a GPU for which IREE 3.13 states no constraints, or dies of
// being asked: batch matmuls, matmuls without matrix instructions (f32 on NVIDIA), products with a
// vector, and sums along rows.
//
// Matrix products with matrix instructions, TileAndFuse (the rules are those that the compiler
// states for a plain matmul):
//   mma            which matrix instruction
//   wg_m, wg_n     tile of one workgroup
//   sg_m, sg_n     matrix instructions of one subgroup along m and n
//   red_k          matrix instructions along k per step
// Without them, TileAndFuse:
//   wg_m, wg_n     tile of one workgroup;  th_m, th_n  of one thread;  red_k  steps of k
// Rows (reductions, matrix times vector), VectorDistribute:
//   rows           rows of one workgroup;  subgroups  that share a row
//   vector         elements a thread loads at once;  steps  loads per thread and iteration
#pragma once

#include <string>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/target.h"
#include "provider/provider.h"
#include "space/space.h"

namespace hone::iree {

// Why hone has no space of its own for the operation; empty where it has one.
std::string why_no_own_space(const problem::Operation& root, const problem::GpuTarget& target);
// Input error with that reason.
Result<space::Space> gpu_own_space(const problem::Operation& root,
                                   const problem::GpuTarget& target);
// What the compiler is told for one of its configurations.
Result<provider::Attributes> gpu_own_attributes(const problem::Operation& root,
                                                const problem::GpuTarget& target,
                                                const space::Space& space,
                                                const space::Configuration& configuration);

}  // namespace hone::iree
