// Is an output right? Element by element against a reference, with a tolerance that says where it
// comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/inputs.h"
#include "problem/dispatch.h"

namespace hone::measure {

// Version of the rules by which an output is called right: inputs, references, tolerances, what
// else is looked at. To be raised with each change that could call right what was wrong, or wrong
// what was right; results of other versions are not taken for known. Before they had one: 1.
inline constexpr int kVerificationRules = 2;

// An element is right when |got - expected| <= absolute + relative x |expected|, or both are NaN,
// or both are the same infinity.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  std::string basis = "exact";  // where the numbers come from, in words
};

// For outputs of `dispatch` on the inputs of plan_inputs (inputs.h).
// - The root exact on its inputs, and nothing around it but fills, moves and type conversions: 0.
//   (A conversion is one correct rounding, which every kernel makes alike.)
// - Otherwise both sides, candidate and reference, round. With u the unit roundoff of the
//   accumulation type, K the terms of a sum, S = sum |a||b| at most, size the largest value that
//   plausibly enters the epilogue (six standard deviations of the root's sums, plus 1.5):
//     root      2 x 9 u S: an operation fused before the root may leave it inexact after all. For
//               terms of zero mean the error is a small multiple of u S, whatever K (Higham and
//               Mary 2020, SIAM J. Sci. Comput. 42(5); their lambda = 3). Where the root is no sum
//               of products of such inputs: 2 x 3 sqrt(K) u S (Higham and Mary 2019, 41(5)). The
//               worst case K u S (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
//               3.1) would hide a result that was rounded to f16 on the way.
//     epilogue  2 x steps x u x (size + (1 + size) |expected|): each operation rounds once; a math
//               function (a polynomial, another on each side) counts as eight, an operation not
//               told apart as sixteen; a function such as exp multiplies its argument's error by
//               its own value. A reduction adds 3 sqrt(length) steps.
//     output    when the outputs' type is coarser, with roundoff v: 2 v (size + 2 |expected|):
//     values
//               near a tie round either way, and part of the epilogue may run in that type. An
//               integer output may be off by one.
Tolerance tolerance_for(const problem::Dispatch& dispatch);
// The same for other inputs, of which `plan` says what plan_inputs says of its own
// (plan_of_contents, given_inputs.h).
Tolerance tolerance_for(const problem::Dispatch& dispatch, const InputPlan& plan);

struct Comparison {
  bool right = false;
  std::int64_t elements = 0;
  std::int64_t bad = 0;
  double share = 0;                     // bad / elements
  std::vector<std::int64_t> first_bad;  // its index in each dimension; empty when right
  double expected = 0;                  // of the first bad element
  double got = 0;
  double worst_error = 0;      // largest |got - expected| over all elements, NaN aside
  double worst_relative = 0;   // largest |got - expected| / |expected| where that is not 0
  std::int64_t nan_count = 0;  // NaN in `got` where the reference has none
};

// Both buffers hold `type`, dense and row-major; bytes beyond it are ignored. Input error when one
// is too short.
Result<Comparison> compare(std::span<const std::byte> got, std::span<const std::byte> expected,
                           const problem::TensorType& type, const Tolerance& tolerance);

// "wrong: 1,310,720 of 2,621,440 elements (50.0 %), first at [1024, 0]: expected 17, got 0";
// "right, largest error 1.2e-07".
std::string describe(const Comparison& comparison);

// Poison: what a write-only output holds before the launch. For floating-point types a NaN, with a
// payload that no arithmetic makes, different for each variant (0 or 1); integers and 8-bit types
// have no such patterns, so there a value may look like one variant by chance, never like both.
void poison(std::span<std::byte> bytes, problem::ElementType type, int variant = 0);

// One flag for each element: it no longer holds the poison. `written` is resized, and flags already
// set stay set, so running both variants gives the exact set.
void add_written(std::span<const std::byte> bytes, problem::ElementType type, int variant,
                 std::vector<bool>& written);

// Every candidate must write exactly what the default configuration writes: bad elements are those
// in one set and not in the other (expected and got: 1 = written, 0 = not).
Result<Comparison> compare_written(const std::vector<bool>& got, const std::vector<bool>& expected,
                                   const problem::TensorType& type);

}  // namespace hone::measure
