// Interval arithmetic for the bounds that propagation keeps.
#pragma once

#include "space/expression.h"
#include "space/term_graph.h"

namespace hone::space {

// Bounds at or beyond this mean "unbounded".
inline constexpr Value kInfinity = Value{1} << 62;

// The integers in [lower, upper]; empty where lower > upper. A term's interval holds every value
// the term can have where it is defined.
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

// Every a op b.
Interval add(Interval a, Interval b);
Interval subtract(Interval a, Interval b);
Interval multiply(Interval a, Interval b);
Interval divide(Interval a, Interval b);
Interval modulo(Interval a, Interval b);
// The values of a comparison: a part of {0, 1}.
Interval compare(Operation comparison, Interval a, Interval b);

// Every x with x * factor = result for some factor and result of the intervals.
Interval solve_factor(Interval result, Interval factor);
// `dividend` without the values that no divisor maps to `quotient`.
Interval narrow_dividend(Interval dividend, Interval divisor, Interval quotient);
// `divisor` without the ends that are 0, which divides nothing.
Interval without_zero(Interval divisor);

}  // namespace hone::space
