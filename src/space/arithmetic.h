// 64-bit integer arithmetic with an undefined value, by the rules at the top of expression.h; the
// same on intervals, for bounds propagation; random integers.
#pragma once

#include <cstdint>
#include <limits>
#include <random>

#include "space/expression.h"
#include "space/term_graph.h"

namespace hone::space {

// Represents "undefined". It takes the lowest 64-bit integer, so a result equal to that counts as
// beyond 64 bits.
inline constexpr Value kUndefined = std::numeric_limits<Value>::min();

// Remainder in [0, |b|) of a defined a by a defined b != 0.
inline Value euclidean_remainder(Value a, Value b) {
  // 32-bit division takes a fraction of the time of a 64-bit one on most processors.
  if (((a | b) >> 32) == 0) {
    return static_cast<Value>(static_cast<std::uint32_t>(a) % static_cast<std::uint32_t>(b));
  }
  if (b == -1) return 0;  // the hardware traps on the lowest integer divided by -1
  const Value remainder = a % b;
  if (remainder >= 0) return remainder;
  return b > 0 ? remainder + b : remainder - b;
}

// Euclidean quotient; undefined where an operand is, or b is 0.
inline Value divide(Value a, Value b) {
  if (a == kUndefined || b == kUndefined || b == 0) return kUndefined;
  if (b == -1) return -a;
  const Value quotient = a / b;
  if (a % b >= 0) return quotient;
  return b > 0 ? quotient - 1 : quotient + 1;
}

// On booleans: 0, 1 or undefined.
inline Value truth(Value a) {
  return a == kUndefined ? kUndefined : a != 0;
}
inline Value logical_not(Value a) {
  return a == kUndefined ? kUndefined : a == 0;
}

// The value of an operation on two values.
inline Value apply(Operator operation, Value a, Value b) {
  if (operation == Operator::kAnd && (a == 0 || b == 0)) return 0;
  if (operation == Operator::kOr && ((a != 0 && a != kUndefined) || (b != 0 && b != kUndefined)))
    return 1;
  if (a == kUndefined || b == kUndefined) return kUndefined;
  Value result;
  switch (operation) {
    case Operator::kAdd:
      return __builtin_add_overflow(a, b, &result) ? kUndefined : result;
    case Operator::kSubtract:
      return __builtin_sub_overflow(a, b, &result) ? kUndefined : result;
    case Operator::kMultiply:
      return __builtin_mul_overflow(a, b, &result) ? kUndefined : result;
    case Operator::kDivide:
      return divide(a, b);
    case Operator::kModulo:
      return b == 0 ? kUndefined : euclidean_remainder(a, b);
    case Operator::kExactDivide:
      return b == 0 || euclidean_remainder(a, b) != 0 ? kUndefined : a / b;
    case Operator::kMinimum:
      return a < b ? a : b;
    case Operator::kMaximum:
      return a < b ? b : a;
    case Operator::kEqual:
      return a == b;
    case Operator::kNotEqual:
      return a != b;
    case Operator::kLess:
      return a < b;
    case Operator::kLessEqual:
      return a <= b;
    case Operator::kAnd:
      return 1;
    case Operator::kOr:
      return 0;
    default:
      return kUndefined;
  }
}

// Applies `operation` to one or more operands from left to right; `value_of` gives the value of
// one.
template <class Operands, class ValueOf>
Value fold(Operator operation, const Operands& operands, const ValueOf& value_of) {
  Value result = value_of(operands[0]);
  for (std::size_t i = 1; i < operands.size(); ++i)
    result = apply(operation, result, value_of(operands[i]));
  return result;
}

// Bounds at or beyond this mean "unbounded".
inline constexpr Value kInfinity = Value{1} << 62;

// Integers in [lower, upper]; empty if lower > upper. A term's interval contains every value of the
// term where it is defined.
struct ValueInterval {
  Value lower = -kInfinity;
  Value upper = kInfinity;

  bool operator==(const ValueInterval&) const = default;
  bool is_empty() const { return lower > upper; }
  bool is_single() const { return lower == upper; }
  bool contains(Value value) const { return lower <= value && value <= upper; }
  bool is_single(Value value) const { return lower == value && upper == value; }
};

inline constexpr ValueInterval kEmptyInterval{1, 0};
inline constexpr ValueInterval kAnyBoolean{0, 1};

ValueInterval intersect(ValueInterval a, ValueInterval b);
ValueInterval hull(ValueInterval a, ValueInterval b);

// Returns an interval that contains every a op b.
ValueInterval add(ValueInterval a, ValueInterval b);
ValueInterval subtract(ValueInterval a, ValueInterval b);
ValueInterval multiply(ValueInterval a, ValueInterval b);
ValueInterval divide(ValueInterval a, ValueInterval b);
ValueInterval modulo(ValueInterval a, ValueInterval b);
// Returns the possible values of a comparison, a subset of {0, 1}.
ValueInterval compare(Operator comparison, ValueInterval a, ValueInterval b);

// Returns an interval that contains every x with x * factor = result for values in the intervals.
ValueInterval solve_factor(ValueInterval result, ValueInterval factor);
// Returns `dividend` without the values that no divisor maps to `quotient`.
ValueInterval narrow_dividend(ValueInterval dividend, ValueInterval divisor,
                              ValueInterval quotient);
// Returns `divisor` without ends that are 0: nothing is divided by 0.
ValueInterval without_zero(ValueInterval divisor);

// Uniform in [0, n), n > 0, and the same on every platform: std::uniform_int_distribution differs
// between standard libraries.
inline std::uint64_t uniform_below(std::uint64_t n, std::mt19937_64& generator) {
  const std::uint64_t incomplete = (std::numeric_limits<std::uint64_t>::max() % n + 1) % n;
  for (;;) {
    const std::uint64_t drawn = generator();
    if (drawn <= std::numeric_limits<std::uint64_t>::max() - incomplete) return drawn % n;
  }
}

}  // namespace hone::space
