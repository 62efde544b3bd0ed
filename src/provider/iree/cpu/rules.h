// The rules of the llvm-cpu spaces, one function each: contractions and convolutions (rules.cc),
// and generic roots (generic_rules.cc). Hard rules: the compiler refuses the configuration, or it
// gives the code of another one. Soft rules: guesses about speed. Sources: "IREE" is the compiler's
// source at 3.13 (compiler/src/iree/compiler/Codegen/LLVMCPU); "measured" is docs/spaces.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "problem/dispatch.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/cpu/loops.h"
#include "space/space.h"

namespace hone::iree {

// The compiler's limit on one vector value: 512 native vectors
// (--iree-llvmcpu-max-allowed-number-of-native-vectors).
inline constexpr std::int64_t kMostNativeVectors = 512;

// Input of the contractions' rules. Tiles are indexed by loop; nothing if the loop has no such
// knob.
struct RuleContext {
  using Tiles = std::vector<std::optional<space::Expression>>;

  const problem::Operation& operation;
  const problem::CpuTarget& target;
  const ContractionLoops& loops;
  bool fused_consumers = false;
  Tiles dist, cache, vec, red;
  space::Expression peel = 0;
  std::optional<space::Expression> interchange = std::nullopt;
  // Peeled boundary tiles become vectors too; those of a convolution do not.
  bool boundaries_vectorised = true;

  // The tile of a loop that one pass over the innermost loops covers: cache_x, or where that is 0
  // dist_x (parallel) or the whole loop (reduction).
  space::Expression block(int loop) const;
  // Vector tile of a parallel loop (1 for batch loops), unroll of a k loop.
  space::Expression innermost(int loop) const;
  space::Expression any_k_blocked() const;
  std::int64_t lanes() const;  // accumulators of one vector register
  // The innermost dimension of the output is longer than a register and no multiple of one.
  bool has_ragged_rows() const;
  space::Expression accumulators() const;  // vector registers
};

using ContractionRule = void(const RuleContext& context, space::SpaceBuilder& builder);

// Hard.
ContractionRule vector_tile_within_block, cache_tile_below_distribution,
    vectors_within_compiler_limit, accumulator_fits_stack, peeling_needs_remainders;

// Soft.
ContractionRule ragged_block_fits_stack, tiles_divide, peeled_rest_in_registers, lanes_filled,
    accumulators_fit_registers, accumulators_fill_registers, rows_within_ways,
    loads_below_multiplies, outer_products, unrolled_code_small, narrow_inputs_unrolled,
    k_block_amortises_accumulator, k_block_within_pages, block_fits_l2, block_reuses_inputs,
    cache_tile_only_where_needed, batch_distributed_singly, threads_evenly_busy,
    workgroups_worth_starting;

// Prefers that the last round of `workgroups` leaves at most a fifth of the time of `cores` threads
// unused.
void prefer_busy_threads(space::SpaceBuilder& builder, const space::Expression& workgroups,
                         int cores);

// Input of the generic roots' rules. Tiles are indexed by the root's loops; nothing if a loop has
// no such knob.
struct GenericRules {
  using Tiles = std::vector<std::optional<space::Expression>>;

  const problem::Dispatch& dispatch;
  const problem::CpuTarget& target;
  bool attention = false;
  Tiles dist, vec, red, inner;
  std::optional<space::Expression> peel;

  const std::vector<problem::Loop>& loops() const { return dispatch.root.loops; }
  // Iterations of a root loop that one pass over the vectors covers: vec_i, red_i, or the whole
  // loop.
  space::Expression innermost(std::size_t loop) const;
  // Returns the size of the widest element that the root touches.
  std::int64_t element_bytes() const;
  std::int64_t lanes() const;  // such elements in a vector register
  // Whether no configuration vectorises the root: MLIR's vectoriser (Vectorization.cpp) needs
  // indices that are single loops, whatever the tiles. Tiles matter all the same (measured, IREE
  // 3.13, Zen 4, two cores: a 1x1 convolution of stride 2 of ResNet-50 1.3 times).
  bool is_scalar() const;
  // Loops along which some whole operand of the root lies in memory.
  std::vector<std::size_t> lane_loops() const;
};

using GenericRule = void(const GenericRules& rules, space::SpaceBuilder& builder);

// Hard.
GenericRule generic_vector_within_workgroup, generic_vectors_within_compiler_limit,
    generic_peeling_needs_remainders;

// Soft.
GenericRule generic_tiles_divide, generic_lanes_filled, generic_vectors_fit_registers,
    generic_threads_evenly_busy, generic_workgroups_worth_starting;

}  // namespace hone::iree
