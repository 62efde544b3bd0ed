// The configurations of a convolution compiled by IREE's llvm-cpu backend, which states no space of
// its own; docs/spaces.md lists the rules with their reasons.
//
// Knobs, for a loop called x (convolution_loops):
//   decompose  1: ConvTileAndDecomposeExpert, 0: DoubleTilingExpert
//   dist_x     distribution tile of a parallel loop: what one workgroup computes
//   vec_x      vector_common_parallel tile of a parallel loop but the batch, one image at a time
//   red_x      vector_reduction tile of a reduction loop: how far it is unrolled
//   peel       1: enable_loop_peeling, boundary tiles get code of their own; 0: they are masked
// The nest they give, outermost first: workgroups, vec_x, red_x.
#pragma once

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/cpu/configuration.h"
#include "space/space.h"

namespace hone::iree {

// The space of one convolution on one CPU. If its soft rules together leave nothing, those that
// give way are left out of it. With `audited`, the name of one of its hard rules, it holds what
// breaks this rule alone (audited_rule.h). Errors: those of convolution_loops and space_outside; an
// input error for a target without vector registers.
Result<space::Space> llvm_cpu_convolution_space(const problem::Operation& operation,
                                                const problem::CpuTarget& target,
                                                std::string_view audited = {});

// The attributes of `configuration`, which is of that space. Errors: those of convolution_loops; an
// input error when the space lacks one of the operation's knobs.
Result<LlvmCpuAttributes> llvm_cpu_convolution_attributes(
    const problem::Operation& operation, const space::Space& space,
    const space::Configuration& configuration);

}  // namespace hone::iree
