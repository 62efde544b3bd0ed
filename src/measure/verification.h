// Verifies an output element by element against a reference, with a tolerance that says where it
// comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "measure/inputs.h"
#include "problem/dispatch.h"
#include "problem/npy.h"

namespace hone::measure {

// Version of the rules that call an output correct: inputs, references, tolerances, other checks.
// Raise it with each change that could call a wrong output correct, or a correct one wrong. Results
// of other versions are not reused. Version 1: results from before there was one.
inline constexpr int kVerificationRules = 7;

// An element is right when |got - expected| <= absolute + relative x |expected|, or both are NaN,
// or both are the same infinity.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  std::string basis = "exact";  // where the numbers come from, in words

  static void fields(auto& tolerance, auto&& field) {
    field("absolute", tolerance.absolute);
    field("relative", tolerance.relative);
    field("basis", tolerance.basis);
  }
};

// Tolerances by binding (used for outputs only) on the inputs of `plan`. Twice the possible error
// of a correct implementation, since the reference has it too (rounding.h), plus one step of the
// type's smallest numbers. Zero if the result is exact: sums of whole numbers that fit, one correct
// narrowing of such, selected or moved values. An output of integers that went through rounded
// floats may be off by one.
std::vector<Tolerance> tolerances_for(const problem::Dispatch& dispatch, const InputPlan& plan);

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

  static void fields(auto& comparison, auto&& field) {
    field("right", comparison.right);
    field("elements", comparison.elements);
    field("bad", comparison.bad);
    field("bad_share", comparison.share);
    field("first_bad", comparison.first_bad);
    field.number("expected", comparison.expected);
    field.number("got", comparison.got);
    field.number("largest_error", comparison.worst_error);
    field.number("largest_relative_error", comparison.worst_relative);
    field("nan_count", comparison.nan_count);
  }
};

// Both buffers hold `type`, dense and row-major; bytes beyond it are ignored. Input error when one
// is too short.
Result<Comparison> compare(std::span<const std::byte> got, std::span<const std::byte> expected,
                           const problem::TensorType& type, const Tolerance& tolerance);
inline Result<Comparison> compare(const problem::Array& got, const problem::Array& expected,
                                  const Tolerance& tolerance) {
  return compare(got.data(), expected.data(), expected.type, tolerance);
}

// "wrong: 1,310,720 of 2,621,440 elements (50.0 %), first at [1024, 0]: expected 17, got 0";
// "right, largest error 1.2e-07".
std::string describe(const Comparison& comparison);

// Poison: the contents of a write-only output before the launch. Floating-point types get a NaN
// with a payload that no arithmetic makes, different for each variant (0 or 1). Integers and 8-bit
// types have no such patterns: a value may look like one variant by chance, never like both.
void poison(std::span<std::byte> bytes, problem::ElementType type, int variant = 0);
// Fills `bytes` with the first of them, over and over.
void repeat_first(std::span<std::byte> bytes, std::size_t first);

// Sets a flag for each element that no longer holds the poison. `written` is resized. Flags already
// set stay set, so running both variants gives the exact set.
void add_written(std::span<const std::byte> bytes, problem::ElementType type, int variant,
                 std::vector<bool>& written);

// Compares the written elements: every candidate must write exactly those that the default
// configuration writes. Bad elements are in only one of the sets (expected and got: 1 = written, 0
// = not).
Result<Comparison> compare_written(const std::vector<bool>& got, const std::vector<bool>& expected,
                                   const problem::TensorType& type);

}  // namespace hone::measure
