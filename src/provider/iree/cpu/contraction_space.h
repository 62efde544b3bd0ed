// The configurations of a contraction on IREE's llvm-cpu backend.
//
// Knobs, for a loop called x ("m", "n", "b"; "m0", "m1" where several have the role):
//   dist_x   distribution tile of a parallel loop: what one workgroup computes
//   cache_x  cache_parallel tile of an m or n loop; 0: not tiled at this level
//   vec_x    vector_common_parallel tile of an m or n loop: the register tile
//   cache_k  cache_reduction tile of a k loop; 0: not tiled at this level
//   red_k    vector_reduction tile of a k loop: how far it is unrolled
//   peel     boundary tiles get code of their own (add_peeling)
//   interchange  of a contraction with an n loop before an m loop only: 1: the m loops are put
//   before
//            the n loops, as outer products need them, before they are tiled
// The nest they give, outermost first: workgroups, cache_m, cache_n, cache_k, vec_m, vec_n, red_k.
// Batch loops have only dist_b; one iteration of them is computed at a time.
#pragma once

#include <string_view>

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "space/space.h"

namespace hone::iree {

struct LlvmCpuDispatchFacts {
  // Operations behind the root in its dispatch read its result (a bias, an activation): a K-blocked
  // accumulator is then a buffer on the stack instead of the output.
  bool fused_consumers = false;
};

// The space of one contraction on one CPU, as cpu_space() has it. Errors: those of
// contraction_loops too.
Result<space::Space> llvm_cpu_contraction_space(const problem::Operation& operation,
                                                const problem::CpuTarget& target,
                                                const LlvmCpuDispatchFacts& facts = {},
                                                std::string_view audited = {});

inline constexpr std::string_view kInterchangeKnob = "interchange";

// Converts `configuration`, which is of that space, to IREE attributes. With K blocked, the root's
// accumulator and the readers of its result stay outside the k loop. They would become one vector
// of the whole block, which the compiler refuses if it is large. init_config and consumer_config
// tile them. Errors: those of contraction_loops; an input error if the space lacks one of the
// operation's knobs.
Result<Attributes> llvm_cpu_contraction_attributes(const problem::Operation& operation,
                                                   const space::Space& space,
                                                   const space::Configuration& configuration);

}  // namespace hone::iree
