// Finds the bindings that a dispatch's root contraction is made of.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "problem/dispatch.h"

namespace hone::problem {

// Returns the binding that feeds each operand of the root (inputs, then outputs), by the IR
// (Dispatch::root_bindings). If the IR was not read, these are the root-input bindings in ordinal
// order and the single output binding. Their element types and extents (unit extents aside) must
// then be the operands'. nullopt otherwise, or if anything but a fill of a constant is fused.
std::optional<std::vector<std::size_t>> bindings_of_operands(const Dispatch& dispatch);

// Whether the root has only fills of constants around it.
bool is_bare(const Dispatch& dispatch);

// The bindings of a contraction that hone computes to its end.
struct ExactBindings {
  std::size_t lhs = 0, rhs = 0, output = 0;
  std::optional<std::size_t> bias;  // added to the sums, over the n loop
  bool narrows = false;  // the output's binding has a narrower type than the root's output
};

// Returns the bindings of a contraction of two inputs that is bare, or has a plain epilogue
// (Dispatch::plain_epilogue); nothing for any other.
std::optional<ExactBindings> exact_bindings(const Dispatch& dispatch);

}  // namespace hone::problem
