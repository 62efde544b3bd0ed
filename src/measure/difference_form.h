// The form of a difference between a wrong array and the right one, as far as it shows.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "measure/verification.h"
#include "problem/npy.h"

namespace hone::measure {

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
