// The configurations on IREE's llvm-cpu backend of what is neither contraction nor convolution:
// reductions (softmax and layer norm among them), elementwise operations, transposes, attention.
//
// Knobs, for the root's loop number i:
//   dist_i   distribution tile of a parallel loop: what one workgroup computes
//   vec_i    vector_common_parallel tile of a parallel loop
//   red_i    vector_reduction tile of a reduction loop
//   inner_i  vector_inner_parallel tile of what reads the root's result and walks along the
//            reduction loop i once more (the division of a softmax)
//   peel     boundary tiles get code of their own (add_peeling)
// A loop without tiles has no knobs: the head size of attention's scores.
#pragma once

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "space/space.h"

namespace hone::iree {

// Whether this space covers the kind of the dispatch's root.
bool has_generic_space(const problem::Dispatch& dispatch);

// The space of one such dispatch on one CPU, as in cpu_space(). The values of every knob include
// the compiler's default (Dispatch::default_configuration). Input errors also for another kind of
// root, a size known only at run time, a loop that walks no operand alone, no loop at all.
Result<space::Space> llvm_cpu_generic_space(const problem::Dispatch& dispatch,
                                            const problem::CpuTarget& target,
                                            std::string_view audited = {});

// Converts a configuration of that space to IREE attributes: the lowering_config of the root and of
// each neighbour, and the function's translation_info. Input error: a space of another operation.
Result<Attributes> llvm_cpu_generic_attributes(const problem::Dispatch& dispatch,
                                               const space::Space& space,
                                               const space::Configuration& configuration);

}  // namespace hone::iree
