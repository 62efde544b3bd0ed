// Finds the bindings that a dispatch's root contraction is made of.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "problem/dispatch.h"

namespace hone::problem {

// Which binding feeds each operand of the root, by operand (inputs, then outputs): what the IR says
// (Dispatch::root_bindings), or where it was not read, the root-input bindings in ordinal order
// when they have the operands' element types and extents (unit extents aside), and so has the
// single output binding. Nothing otherwise, or when anything but a fill of a constant is fused.
std::optional<std::vector<std::size_t>> bindings_of_operands(const Dispatch& dispatch);

// Whether nothing but fills of constants is around the root.
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
