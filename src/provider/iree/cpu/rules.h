// The rules of the llvm-cpu space of contractions, one function each. Hard rules: the compiler
// refuses the configuration, or it gives the code of another one. Soft rules: guesses about speed.
// Sources: "IREE" is the compiler's source at 3.13 (compiler/src/iree/compiler/Codegen/LLVMCPU);
// "measured" is docs/spaces.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/cpu/loops.h"
#include "space/space.h"

namespace hone::iree {

// The compiler's limit on one vector value: 512 native vectors
// (--iree-llvmcpu-max-allowed-number-of-native-vectors).
inline constexpr std::int64_t kMostNativeVectors = 512;

// Input of the rules. Tiles are indexed by loop; nothing if the loop has no such knob.
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

}  // namespace hone::iree
