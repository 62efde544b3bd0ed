// Interval arithmetic for bounds propagation.
#pragma once

#include "space/expression.h"
#include "space/term_graph.h"

namespace hone::space {

// Bounds at or beyond this mean "unbounded".
inline constexpr Value kInfinity = Value{1} << 62;

// Integers in [lower, upper]; empty if lower > upper. A term's interval contains every value of the
// term where it is defined.
struct Interval {
  Value lower = -kInfinity;
  Value upper = kInfinity;

  bool operator==(const Interval&) const = default;
  bool is_empty() const { return lower > upper; }
  bool is_single() const { return lower == upper; }
  bool contains(Value value) const { return lower <= value && value <= upper; }
  bool is_single(Value value) const { return lower == value && upper == value; }
};

inline constexpr Interval kEmptyInterval{1, 0};
inline constexpr Interval kAnyBoolean{0, 1};

Interval intersect(Interval a, Interval b);
Interval hull(Interval a, Interval b);

// Returns an interval that contains every a op b.
Interval add(Interval a, Interval b);
Interval subtract(Interval a, Interval b);
Interval multiply(Interval a, Interval b);
Interval divide(Interval a, Interval b);
Interval modulo(Interval a, Interval b);
// Returns the possible values of a comparison, a subset of {0, 1}.
Interval compare(Operation comparison, Interval a, Interval b);

// Returns an interval that contains every x with x * factor = result for values in the intervals.
Interval solve_factor(Interval result, Interval factor);
// Returns `dividend` without the values that no divisor maps to `quotient`.
Interval narrow_dividend(Interval dividend, Interval divisor, Interval quotient);
// Returns `divisor` without ends that are 0: nothing is divided by 0.
Interval without_zero(Interval divisor);

}  // namespace hone::space
