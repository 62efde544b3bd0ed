// The values a bare contraction must give, computed plainly and independently of any compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "problem/contraction.h"
#include "problem/dispatch.h"

namespace hone::measure {

struct ExactContraction {
  std::vector<std::byte> output;  // in the output's type and layout
  // A bound, taken from the data, on sum |a||b| over any one output element.
  double absolute_sum = 0;
  // Every partial sum in any order is exact in the output's type: absolute_sum <= 2^digits of it
  // (scaled by the data's common power of two). A kernel that accumulates there, or wider, must
  // give these bits.
  bool exact = false;
};

// output[c] = sum over the loops not in the output of lhs[a] * rhs[b], plus `initial` (the output's
// content before, for an operation that adds to it; empty: zero). The operation needs two inputs
// and one output whose dimensions each walk a single loop (projected permutations: any transposed,
// batched or broadcast contraction).
//
// How it is computed: in float where the data prove that no partial sum needs more than 24 bits, in
// double where 53 bits do, else (integers) modulo 2^64; so the sum is exact before it is rounded
// once to the output's type (integers wrap). The proof: all values are integers times a common
// power of two, and every partial sum of any order is at most sum |a||b|
// <= min(max_row sum |a| x max |b|, max_column sum |b| x max |a|), which is below 2^24 (2^53) times
// that power. Values that are no such integers (reals) are summed in double, `exact` is false, and
// the error is at most terms x 2^-53 x absolute_sum.
//
// `threads` share the rows. 2048x1280x1280 takes about half a second on one core.
// Input error: a dynamic or non-contraction operation, a buffer of the wrong size.
Result<ExactContraction> exact_contraction(const problem::Operation& operation,
                                           std::span<const std::byte> lhs,
                                           std::span<const std::byte> rhs, int threads = 1,
                                           std::span<const std::byte> initial = {});

using problem::ExactBindings;

// Whether hone computes the correct output itself. All other dispatches are compared with an
// independent compile.
bool has_exact_reference(const problem::Dispatch& dispatch);

// Computes the contents of the output's binding from the sums in the root's output type: adds the
// bias in that type, and rounds the result once to the binding's.
std::vector<std::byte> finish_output(const problem::Dispatch& dispatch,
                                     const ExactBindings& bindings, std::vector<std::byte> sums,
                                     std::span<const std::byte> bias);

// Contents of a bare contraction's output when the root begins to add to it: the constant of its
// fill, or, without a fill, `before`, the binding's contents. Empty for zeros.
std::vector<std::byte> initial_output(const problem::Dispatch& dispatch,
                                      std::span<const std::byte> before);

}  // namespace hone::measure
