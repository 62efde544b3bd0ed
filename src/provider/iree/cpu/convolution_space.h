// The configurations of a convolution or pooling on IREE's llvm-cpu backend.
//
// Knobs, for a loop called x (convolution_loops):
//   decompose  1: ConvTileAndDecomposeExpert, 0: DoubleTilingExpert
//   dist_x     distribution tile of a parallel loop: what one workgroup computes
//   vec_x      vector_common_parallel tile of a parallel loop but the batch, one image at a time
//   red_x      vector_reduction tile of a reduction loop: how far it is unrolled
//   peel       boundary tiles get code of their own (add_peeling)
// The nest they give, outermost first: workgroups, vec_x, red_x.
#pragma once

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "space/space.h"

namespace hone::iree {

// The space of one convolution on one CPU, as cpu_space() has it. Errors: those of
// convolution_loops too.
Result<space::Space> llvm_cpu_convolution_space(const problem::Operation& operation,
                                                const problem::CpuTarget& target,
                                                std::string_view audited = {});

// Converts `configuration`, which is of that space, to IREE attributes. Errors: those of
// convolution_loops; an input error if the space lacks one of the operation's knobs.
Result<Attributes> llvm_cpu_convolution_attributes(const problem::Operation& operation,
                                                   const space::Space& space,
                                                   const space::Configuration& configuration);

}  // namespace hone::iree
