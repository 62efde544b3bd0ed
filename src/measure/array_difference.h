// Difference of two arrays, in numbers for people, and its form as far as it shows.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "measure/verification.h"
#include "problem/npy.h"

namespace hone::measure {

// Elements that are NaN in one array only count as different, and are in no other number.
struct ArrayDifference {
  std::int64_t elements = 0;
  std::int64_t different = 0;   // in value: 0 and -0 are equal, NaN and NaN too
  double largest = 0;           // |got - expected|
  double mean = 0;              // of |got - expected| over all elements
  double largest_relative = 0;  // |got - expected| / |expected|, where that is not 0
  // Most numbers of the element type that lie between the two, the one end counted; of integers
  // their difference.
  double largest_ulp = 0;
  // Numbers of elements by their difference in ulp: 1, 2, 3 to 4, 5 to 16, 17 to 256, more.
  // Roundings in another order fill the first of them, an operand in another layout the last.
  static constexpr std::array<double, 5> kUlpSteps{1, 2, 4, 16, 256};
  std::array<std::int64_t, kUlpSteps.size() + 1> by_ulp = {};

  static void fields(auto& difference, auto&& field) {
    field("elements", difference.elements);
    field("different", difference.different);
    field.number("largest", difference.largest);
    field.number("mean", difference.mean);
    field.number("largest_relative", difference.largest_relative);
    field.number("largest_ulp", difference.largest_ulp);
    field("by_ulp", difference.by_ulp);
  }
};

// `by_ulp` with names: {"1", 120}, {"2", 3}, {"3-4", 0}, ..., {">256", 0}.
std::vector<std::pair<std::string, std::int64_t>> ulp_histogram(const ArrayDifference& difference);
// "1: 2.1 %, 2: 0.3 %" of all elements; empty classes are omitted.
std::string ulp_text(const ArrayDifference& difference);

// Compares two arrays of one type. Input error when the types differ.
Result<ArrayDifference> difference_of(const problem::Array& got, const problem::Array& expected);

// Forms of a difference between a wrong array and the right one.
enum class DifferenceKind {
  kNaN,       // it is not a number where the right one is
  kPart,      // a block of it, at most half of a dimension; the rest is right
  kShift,     // each element is what belongs a few places further along a dimension
  kFactor,    // all is the right one times a factor
  kTerm,      // one term for each index of a dimension is added or missing, as a bias is
  kRounding,  // fewer digits agree than should: narrower types, sums in another order or type
  kNone,      // no form that hone knows
};
std::string_view name_of(DifferenceKind kind);  // "NaN", "part", "shift", ...

struct DifferenceForm {
  DifferenceKind kind = DifferenceKind::kNone;
  std::string words = {};  // "only in [0:8, 0:64]", "0.5 times the right values"
};

// Returns the form of the differences beyond `tolerance` between two dense arrays of one type,
// which have such elements. Kinds are tried in the order of the enumeration. Input error if the
// types differ.
Result<DifferenceForm> form_of_difference(const problem::Array& got, const problem::Array& expected,
                                          const Tolerance& tolerance);

}  // namespace hone::measure
