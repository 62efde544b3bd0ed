// Rules of the llvm-cpu space of generic roots, one function each. Hard rules: the compiler refuses
// the configuration, or generates the code of another one. Soft rules: guesses about speed.
// Sources: "IREE" is the compiler's source at 3.13 (compiler/src/iree/compiler/Codegen/LLVMCPU).
#pragma once

#include <optional>
#include <vector>

#include "problem/dispatch.h"
#include "problem/target.h"
#include "space/space.h"

namespace hone::iree {

// Input of the rules. Tiles are indexed by the root's loops; nothing if a loop has no such knob.
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
