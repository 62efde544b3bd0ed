// Arithmetic on ranges of numbers, and the inputs that they are computed from.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

namespace hone::iree {

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// The range of a value, or of each element of a tensor, and the inputs that it is computed from.
struct Range {
  double least = -kUnbounded, most = kUnbounded;
  std::set<int> inputs = {};
};

// The smallest range that contains both.
Range hull(Range a, const Range& b);
// 0 x infinity is 0 here: no element is infinite.
double times(double a, double b);
// The range of an arith operation on two values, without `inputs`; nothing for an unknown
// operation.
std::optional<Range> range_of_two(std::string_view kind, const Range& a, const Range& b);
// Whether "a PREDICATE b" holds, by arith.cmpi's numbers: eq ne slt sle sgt sge ult ule ugt uge.
std::optional<bool> decided(std::int64_t predicate, const Range& a, const Range& b);
// Narrows `a` to the values for which "a PREDICATE b" holds, or does not; nothing if there are
// none.
std::optional<Range> narrowed(Range a, std::int64_t predicate, bool holds, const Range& b);

}  // namespace hone::iree
