#include "space/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace hone::space {
namespace {

Value clamp(Value value) {
  return std::clamp(value, -kInfinity, kInfinity);
}

// |a|, |b| <= kInfinity, so their sum fits.
Value saturating_add(Value a, Value b) {
  return clamp(a + b);
}

Value saturating_multiply(Value a, Value b) {
  Value result;
  if (__builtin_mul_overflow(a, b, &result)) return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  return clamp(result);
}

// A lower bound is never +infinity, nor an upper one -infinity: those would be taken for
// "unbounded" where a true bound lies beyond.
ValueInterval hull_of(std::initializer_list<Value> values) {
  return {std::min(std::min(values), kInfinity / 2), std::max(std::max(values), -kInfinity / 2)};
}

bool is_infinite(Value bound) {
  return bound >= kInfinity || bound <= -kInfinity;
}

// Euclidean quotient in which an unbounded dividend stays unbounded.
Value quotient(Value a, Value b) {
  if (is_infinite(a)) return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  return divide(a, b);
}

Value ceiling_quotient(Value a, Value b) {
  if (is_infinite(a)) return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  return -divide(-a, b);
}
Value floor_quotient(Value a, Value b) {
  if (is_infinite(a)) return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  return b > 0 ? divide(a, b) : divide(-a, -b);
}

ValueInterval positive(ValueInterval a) {
  return intersect(a, {1, kInfinity});
}
ValueInterval negative(ValueInterval a) {
  return intersect(a, {-kInfinity, -1});
}

// For a divisor of one sign: the quotient is monotone in each operand, so the corners bound it.
ValueInterval divide_by_one_sign(ValueInterval a, ValueInterval b) {
  if (a.is_empty() || b.is_empty()) return kEmptyInterval;
  return hull_of({quotient(a.lower, b.lower), quotient(a.lower, b.upper),
                  quotient(a.upper, b.lower), quotient(a.upper, b.upper)});
}

// Integers x with x * factor in `result`, for factors of one sign.
ValueInterval solve_factor_of_one_sign(ValueInterval result, ValueInterval factor) {
  if (result.is_empty() || factor.is_empty()) return kEmptyInterval;
  if (factor.upper < 0) {
    result = {-result.upper, -result.lower};
    factor = {-factor.upper, -factor.lower};
  }
  return {std::min(ceiling_quotient(result.lower, factor.lower),
                   ceiling_quotient(result.lower, factor.upper)),
          std::max(floor_quotient(result.upper, factor.lower),
                   floor_quotient(result.upper, factor.upper))};
}

}  // namespace

ValueInterval intersect(ValueInterval a, ValueInterval b) {
  return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
}

ValueInterval hull(ValueInterval a, ValueInterval b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}

ValueInterval add(ValueInterval a, ValueInterval b) {
  if (a.is_empty() || b.is_empty()) return kEmptyInterval;
  // An unbounded end stays unbounded, whatever is added to it.
  return {
      is_infinite(a.lower) || is_infinite(b.lower) ? -kInfinity : saturating_add(a.lower, b.lower),
      is_infinite(a.upper) || is_infinite(b.upper) ? kInfinity : saturating_add(a.upper, b.upper)};
}

ValueInterval subtract(ValueInterval a, ValueInterval b) {
  if (b.is_empty()) return kEmptyInterval;
  return add(a, {-b.upper, -b.lower});
}

ValueInterval multiply(ValueInterval a, ValueInterval b) {
  if (a.is_empty() || b.is_empty()) return kEmptyInterval;
  return hull_of({saturating_multiply(a.lower, b.lower), saturating_multiply(a.lower, b.upper),
                  saturating_multiply(a.upper, b.lower), saturating_multiply(a.upper, b.upper)});
}

ValueInterval divide(ValueInterval a, ValueInterval b) {
  return hull(divide_by_one_sign(a, positive(b)), divide_by_one_sign(a, negative(b)));
}

ValueInterval modulo(ValueInterval a, ValueInterval b) {
  b = without_zero(b);
  if (a.is_empty() || b.is_empty()) return kEmptyInterval;
  const Value largest = std::max(std::abs(b.lower), std::abs(b.upper));
  if (b.is_single() && !is_infinite(a.lower) && !is_infinite(a.upper) &&
      divide(a.lower, b.lower) == divide(a.upper, b.lower)) {
    return {euclidean_remainder(a.lower, b.lower), euclidean_remainder(a.upper, b.lower)};
  }
  const Value upper = is_infinite(largest) ? kInfinity : largest - 1;
  return {0, a.lower >= 0 ? std::min(upper, a.upper) : upper};
}

ValueInterval compare(Operator comparison, ValueInterval a, ValueInterval b) {
  if (a.is_empty() || b.is_empty()) return kEmptyInterval;
  const bool disjoint = intersect(a, b).is_empty();
  const bool same = a.is_single() && b.is_single() && a.lower == b.lower;
  bool can_hold = true;
  bool can_fail = true;
  switch (comparison) {
    case Operator::kEqual:
      can_hold = !disjoint;
      can_fail = !same;
      break;
    case Operator::kNotEqual:
      can_hold = !same;
      can_fail = !disjoint;
      break;
    case Operator::kLess:
      can_hold = a.lower < b.upper;
      can_fail = a.upper >= b.lower;
      break;
    default:
      can_hold = a.lower <= b.upper;
      can_fail = a.upper > b.lower;
      break;
  }
  // Bounds at infinity may stand for larger values.
  if (is_infinite(a.lower) || is_infinite(b.upper)) can_hold = true;
  if (is_infinite(a.upper) || is_infinite(b.lower)) can_fail = true;
  return {can_fail ? 0 : 1, can_hold ? 1 : 0};
}

ValueInterval solve_factor(ValueInterval result, ValueInterval factor) {
  if (result.is_empty() || factor.is_empty()) return kEmptyInterval;
  if (factor.contains(0) && result.contains(0)) return {};
  return hull(solve_factor_of_one_sign(result, positive(factor)),
              solve_factor_of_one_sign(result, negative(factor)));
}

ValueInterval narrow_dividend(ValueInterval dividend, ValueInterval divisor, ValueInterval result) {
  if (divisor.lower <= 0) return dividend;
  // a / b = q  <=>  q * b <= a <= q * b + b - 1
  const ValueInterval low = multiply({result.lower, result.lower}, divisor);
  const ValueInterval next = add(result, {1, 1});
  const ValueInterval high = multiply({next.upper, next.upper}, divisor);
  const Value upper = is_infinite(high.upper) ? kInfinity : high.upper - 1;
  return intersect(dividend, {low.lower, upper});
}

ValueInterval without_zero(ValueInterval divisor) {
  if (divisor.lower == 0) divisor.lower = 1;
  if (divisor.upper == 0) divisor.upper = -1;
  return divisor;
}

}  // namespace hone::space
