// The configurations on IREE's llvm-cpu backend of what is no contraction: reductions (softmax and
// layer norm among them), elementwise operations, transposes, attention. The compiler states no
// space for a CPU; docs/spaces.md lists the rules with their reasons.
//
// Knobs, for the root's loop number i:
//   dist_i   distribution tile of a parallel loop: what one workgroup computes
//   vec_i    vector_common_parallel tile of a parallel loop
//   red_i    vector_reduction tile of a reduction loop
//   inner_i  vector_inner_parallel tile of what reads the root's result and walks along the
//            reduction loop i once more (the division of a softmax)
//   peel     1: enable_loop_peeling, boundary tiles get code of their own; 0: they are masked
// A loop without tiles has no knobs: the head size of attention's scores.
#pragma once

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "space/space.h"

namespace hone::iree {

// Whether the dispatch's root is of a kind that this space is for.
bool has_generic_space(const problem::Dispatch& dispatch);

// What the compiler chooses by default (Dispatch::default_configuration) is among the values of
// every knob. Soft rules that leave nothing together are left out. Input errors: another kind of
// root, a size known only at run time, a loop that walks no operand alone, no loop at all. With
// `audited`, the name of one of its hard rules, what breaks this rule alone (audited_rule.h), and
// space_outside's errors.
Result<space::Space> llvm_cpu_generic_space(const problem::Dispatch& dispatch,
                                            const problem::CpuTarget& target,
                                            std::string_view audited = {});

// What the compiler is told for one of its configurations: the root's and each neighbour's
// lowering_config, the function's translation_info. Input error: a space of another operation.
Result<Attributes> llvm_cpu_generic_attributes(const problem::Dispatch& dispatch,
                                               const space::Space& space,
                                               const space::Configuration& configuration);

}  // namespace hone::iree
