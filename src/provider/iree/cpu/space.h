// The configurations of a contraction compiled by IREE's llvm-cpu backend. The compiler states no
// space for a CPU, so hone does; docs/spaces.md lists the rules with their reasons and the
// measurements behind the soft ones.
//
// Knobs, for a loop called x ("m", "n", "b"; "m0", "m1" where several have the role):
//   dist_x   distribution tile of a parallel loop: what one workgroup computes
//   cache_x  cache_parallel tile of an m or n loop; 0: not tiled at this level
//   vec_x    vector_common_parallel tile of an m or n loop: the register tile
//   cache_k  cache_reduction tile of a k loop; 0: not tiled at this level
//   red_k    vector_reduction tile of a k loop: how far it is unrolled
//   peel     1: enable_loop_peeling, boundary tiles get code of their own; 0: they are masked
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
#include "provider/iree/cpu/loops.h"
#include "space/space.h"

namespace hone::iree {

struct LlvmCpuDispatchFacts {
  // Operations behind the root in its dispatch read its result (a bias, an activation): a K-blocked
  // accumulator is then a buffer on the stack instead of the output.
  bool fused_consumers = false;
};

// The space of one contraction on one CPU. If its soft rules together leave nothing (odd extents,
// small problems), those that give way are left out of it. With `audited`, the name of one of its
// hard rules, it holds what breaks this rule alone (audited_rule.h). Errors: those of
// contraction_loops and space_outside; an input error for a target without vector registers.
Result<space::Space> llvm_cpu_contraction_space(const problem::Operation& operation,
                                                const problem::CpuTarget& target,
                                                const LlvmCpuDispatchFacts& facts = {},
                                                std::string_view audited = {});

inline constexpr std::string_view kInterchangeKnob = "interchange";

// A knob's name: tile_knob("vec", loop) is "vec_m".
std::string tile_knob(std::string_view level, const ContractionLoop& loop);

// The tile sizes offered for a loop of `size` iterations, ascending: its divisors and all 2^i and
// 3*2^i below it.
std::vector<space::Value> tile_sizes(std::int64_t size);

}  // namespace hone::iree
