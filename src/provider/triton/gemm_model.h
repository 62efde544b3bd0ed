// How long a GEMM takes, by arithmetic: a prior that says which configurations to try first. It has
// to rank, not to be exact: constants are rounded, and clocks, power and caches are omitted.
//
// A unit works on its programs' steps along k. A step takes the longest of
// - its products at the rate of the matrix instructions that its tile gets,
// - reading its operands from shared memory, and writing them there,
// - bringing them from L2 at the unit's share of the bandwidth,
// - the latency of memory over the steps in flight (stages - 1, of each resident program).
// The unit with the most programs ends last (wave quantisation); each program has a first load and
// a last store that nothing hides unless others are resident. Beside that the whole takes at least
// what reading and writing memory takes (a roofline: Williams et al., CACM 2009), where how often A
// and B are read follows from the tiles in flight at a time and their grouping. Split-K and
// stream-K pay for their parts' sums.
#pragma once

#include <functional>

#include "provider/triton/stated_spaces.h"
#include "space/space.h"

namespace hone::triton {

// Knob values of a configuration that the model uses.
struct GemmChoice {
  std::int64_t structure = 0;
  std::int64_t block_m = 16, block_n = 16, block_k = 16;
  std::int64_t group_m = 1, split_k = 1, per_unit = 1;
  std::int64_t more_n = 0, swap = 0, precision = 0;
  std::int64_t warps = 4, stages = 2;
};

// Seconds, named by what takes them.
struct GemmEstimate {
  double step = 0;     // of one program on a unit that runs `resident` of them
  int resident = 1;    // programs that a unit holds at a time
  double compute = 0;  // all steps, first loads and last stores of the busiest unit
  double memory = 0;   // reading and writing memory
  double extra = 0;    // of split-K and stream-K
  double seconds = 0;  // of the launch
};

// `stated`: the product of a dispatch, whose kernel is another than a GEMM's
// (python/contraction.py).
GemmEstimate estimate(const Gemm& gemm, const GemmDevice& device, const GemmChoice& choice,
                      const StatedProduct* stated = nullptr);

// Returns a function that reads the GemmChoice of a configuration of `space`, one of the provider's
// spaces. The function holds copies of what it needs, and several threads may call it.
std::function<GemmChoice(const space::Configuration&)> gemm_choices(const Gemm& gemm,
                                                                    const space::Space& space);

// Predicts the seconds of configurations of `space`, by estimate().
std::function<double(const space::Configuration&)> gemm_prior(const Gemm& gemm,
                                                              const GemmDevice& device,
                                                              const space::Space& space);

// Estimates the seconds of an attention by a configuration from the products, the exponentials (a
// unit does few in a clock), and how far a unit's programs overlap. Use it only to order
// configurations; absolute times are unreliable.
std::function<double(const space::Configuration&)> attention_prior(const AttentionShape& shape,
                                                                   const GemmDevice& device,
                                                                   const space::Space& space);

}  // namespace hone::triton
