#include "measure/rounding.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include "measure/half.h"

namespace hone::measure {
namespace {

using problem::Computation;
using problem::Curve;
using problem::ElementType;
using problem::ElementValue;
using problem::kFunctionRoundings;
using problem::kHardFunctionRoundings;
using problem::ScalarKind;

// Number of roundings assumed for an operation in a chain of unknown order, or of unknown steps.
constexpr double kUnknownSteps = 16;
// Standard deviations that bound a sum of independent terms.
constexpr double kRoundingDeviations = 6;
// Standard deviations that bound the sum of errors of independent terms.
constexpr double kErrorDeviations = 3;
// Terms that a matrix unit adds at once, with one truncation (Fasi et al. 2021).
constexpr double kTermsAtOnce = 16;

double largest_of(double low, double high) {
  return std::max(std::abs(low), std::abs(high));
}

// Digits behind the point of a constant; nullopt for infinities and NaN.
std::optional<int> grid_of(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  if (value == 0) return std::numeric_limits<int>::max() / 2;  // zero is on every grid
  return lowest_digit(value);
}

std::optional<int> finer(const std::optional<int>& a, const std::optional<int>& b) {
  return a && b ? std::optional(std::min(*a, *b)) : std::nullopt;
}

bool adds_floats(const ElementValue& value) {
  return value.operation.is(ScalarKind::kSum) && problem::is_float(value.type);
}

// Whether every multiple of 2^grid up to `largest` is a value of the type.
bool holds(ElementType type, double largest, const std::optional<int>& grid) {
  if (!grid || !std::isfinite(largest)) return false;
  if (*grid > 1000) return true;
  return largest <= std::ldexp(1.0, *grid + significand_digits(type));
}

// Bound of the curve's |slope| for operands of these magnitudes.
double slope_of(Curve curve, double smallest, double largest) {
  switch (curve) {
    case Curve::kExponential:
    case Curve::kShiftedExponential:
      return std::exp(largest);
    case Curve::kLogarithm:
      return 1 / smallest;
    case Curve::kRoot:
      return 0.5 / std::sqrt(smallest);
    case Curve::kReciprocalRoot:
      return 0.5 * std::pow(smallest, -1.5);
    case Curve::kErf:
      return 1.13;  // 2 / sqrt(pi)
    case Curve::kHyperbolic:
      return std::cosh(std::min(largest, 80.0));
    case Curve::kGentle:
    case Curve::kUnknown:
      break;
  }
  return 1;
}

class Analysis {
 public:
  Analysis(const Computation& computation, const InputPlan& plan, bool matrix_units)
      : computation_(computation), plan_(plan), matrix_units_(matrix_units) {}

  Rounding run() {
    for (std::size_t i = 0; i < computation_.values.size(); ++i) {
      value_ = &computation_.values[i];
      u_ = unit_roundoff(value_->type);
      Estimate estimate = estimate_value();
      estimate.rms = std::max(estimate.rms, std::abs(estimate.mean));
      rounding_.values.push_back(estimate);
    }
    return std::move(rounding_);
  }

 private:
  const Estimate& operand(std::size_t i) const {
    return rounding_.values[static_cast<std::size_t>(value_->operands.at(i))];
  }

  Estimate estimate_value() {
    switch (value_->kind) {
      case ElementValue::Kind::kInput:
        return input();
      case ElementValue::Kind::kConstant:
        return constant(value_->constant);
      case ElementValue::Kind::kElement:
        return operand(0);
      case ElementValue::Kind::kOneOf:
        return one_of();
      case ElementValue::Kind::kOperation:
        return operation();
      case ElementValue::Kind::kReduction:
        return reduction();
      case ElementValue::Kind::kSoftmax:
        return softmax();
      case ElementValue::Kind::kAttention:
        return value_->operands.size() < 3 ? unknown() : attention();
      case ElementValue::Kind::kUnknown:
        break;
    }
    return unknown();
  }

  Estimate input() const {
    const auto binding = static_cast<std::size_t>(value_->binding);
    const bool known = value_->binding >= 0 && binding < plan_.bindings.size();
    const auto [low, high, smallest, mean, rms, grid] =
        range_of(known ? plan_.bindings[binding] : InputValues(), value_->type);
    return {low, high, smallest, mean, rms, 0, 0, grid};
  }

  static Estimate constant(double value) {
    return {value, value, std::abs(value), value, std::abs(value), 0, 0, grid_of(value)};
  }

  // Lets the estimate's range, errors and grid hold for `other` too.
  static void widen(Estimate& estimate, const Estimate& other) {
    estimate.low = std::min(estimate.low, other.low);
    estimate.high = std::max(estimate.high, other.high);
    estimate.absolute = std::max(estimate.absolute, other.absolute);
    estimate.relative = std::max(estimate.relative, other.relative);
    estimate.grid = finer(estimate.grid, other.grid);
  }

  Estimate one_of() const {
    Estimate all;
    bool first = true;
    for (std::size_t i = 0; i < value_->operands.size(); ++i) {
      const Estimate& each = operand(i);
      // A mask's infinities leave no arithmetic to be estimated.
      if (!std::isfinite(each.low) || !std::isfinite(each.high)) continue;
      if (std::exchange(first, false)) {
        all = each;
        continue;
      }
      widen(all, each);
      all.smallest = std::min(all.smallest, each.smallest);
      all.mean = (all.mean + each.mean) / 2;
      all.rms = std::max(all.rms, each.rms);
    }
    return all;
  }

  // The last step of every arithmetic operation.
  Estimate rounded(Estimate estimate) const {
    if (!problem::is_float(value_->type)) {
      if (estimate.grid) estimate.grid = std::max(0, *estimate.grid);
      return estimate;  // integer arithmetic wraps, and does so in every order
    }
    if (estimate.is_exact() && holds(value_->type, estimate.largest(), estimate.grid))
      return estimate;
    estimate.relative += u_;
    estimate.grid.reset();
    return estimate;
  }

  void demand(std::size_t i, bool too_large) {
    rounding_.out_of_domain.push_back({value_->operands.at(i), too_large});
  }

  Estimate operation() {
    const problem::ScalarFacts& facts = value_->operation.facts();
    if (value_->operands.empty() || value_->operands.size() != facts.operands) return unknown();
    switch (facts.kind) {
      case ScalarKind::kWidening:
      case ScalarKind::kNarrowing:
      case ScalarKind::kSignedConversion:
      case ScalarKind::kUnsignedConversion:
      case ScalarKind::kIndexConversion:
      case ScalarKind::kTruncation:
        return converted();
      case ScalarKind::kComparison:
        return {0, 1, 0, 0.5, 0.7, 0, 0, 0};
      case ScalarKind::kToInteger:
        return to_integer();
      case ScalarKind::kNegation:
        return negated(operand(0));
      case ScalarKind::kMagnitude:
        return magnitude();
      case ScalarKind::kLarger:
      case ScalarKind::kSmaller:
      case ScalarKind::kAnd:
      case ScalarKind::kOr:
        return one_of_two(facts.kind);
      case ScalarKind::kSum:
        return sum(operand(1), false);
      case ScalarKind::kDifference:
        return sum(negated(operand(1)), value_->operands[0] == value_->operands[1]);
      case ScalarKind::kProduct:
        return product();
      case ScalarKind::kQuotient:
        return quotient();
      case ScalarKind::kPower:
        return power();
      case ScalarKind::kMultiplyAdd:
        return sum_of(product(), operand(2));
      case ScalarKind::kFunction:
        return facts.function.curve == Curve::kUnknown ? unknown() : apply(facts);
      default:
        return unknown();
    }
  }

  Estimate converted() const {
    Estimate estimate = operand(0);
    if (!problem::is_float(value_->type)) return estimate;
    if (holds(value_->type, estimate.largest(), estimate.grid)) return estimate;
    const ElementType from = computation_.at(value_->operands[0]).type;
    if (problem::is_float(from) && unit_roundoff(from) >= u_) return estimate;  // wider
    // A single correct rounding: without error if all kernels round the same exact value.
    if (!estimate.is_exact()) estimate.relative += u_;
    estimate.grid.reset();
    return estimate;
  }

  // Values near a border go to either side of it.
  Estimate to_integer() const {
    Estimate estimate = operand(0);
    if (!estimate.is_exact()) estimate.absolute += 1;
    estimate.grid = 0;
    estimate.smallest = 0;
    return estimate;
  }

  static Estimate negated(Estimate estimate) {
    std::swap(estimate.low, estimate.high);
    estimate.low = -estimate.low;
    estimate.high = -estimate.high;
    estimate.mean = -estimate.mean;
    return estimate;
  }

  Estimate magnitude() const {
    Estimate estimate = operand(0);
    estimate.high = estimate.largest();
    estimate.low = estimate.smallest;
    estimate.mean = estimate.rms;
    return estimate;
  }

  Estimate one_of_two(ScalarKind kind) const {
    const Estimate &a = operand(0), &b = operand(1);
    Estimate estimate = one_of();
    if (kind == ScalarKind::kLarger) estimate.low = std::max(a.low, b.low);
    if (kind == ScalarKind::kSmaller) estimate.high = std::min(a.high, b.high);
    estimate.smallest = std::max({0.0, estimate.low, -estimate.high});
    estimate.mean = std::clamp(estimate.mean, estimate.low, std::max(estimate.low, estimate.high));
    return estimate;
  }

  Estimate sum(const Estimate& b, bool cancels) const {
    Estimate estimate = sum_of(operand(0), b);
    if (!estimate.is_exact()) estimate.absolute += of_beginning_with_the_other();
    if (cancels) estimate.low = estimate.high = estimate.smallest = estimate.mean = 0;
    return estimate;
  }

  // A kernel may begin a sum of terms with the value added to it (see Planner::added_to_sums()).
  // Then each step rounds, though the terms alone would not.
  double of_beginning_with_the_other() const {
    if (!adds_floats(*value_)) return 0;
    double most = 0;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const ElementValue& tensor = computation_.at(computation_.tensor_of(value_->operands[i]));
      if (tensor.kind != ElementValue::Kind::kReduction || !adds_floats(tensor)) continue;
      const Estimate& term = rounding_.values[static_cast<std::size_t>(tensor.operands.front())];
      const double other = operand(1 - i).largest();
      const auto terms = static_cast<double>(tensor.terms);
      // A single term that is not zero rounds where it is added.
      const double one =
          tensor.root && plan_.single_products
              ? u_ * (other + operand(i).largest())
              : of_both_signs(tensor) * u_ * term.rms + std::sqrt(terms) * u_ * other;
      most = std::max(most, one);
    }
    return most;
  }

  Estimate sum_of(const Estimate& a, const Estimate& b) const {
    Estimate estimate{.low = a.low + b.low, .high = a.high + b.high, .mean = a.mean + b.mean};
    estimate.smallest = std::max({0.0, estimate.low, -estimate.high});
    const double variance = std::max(0.0, a.rms * a.rms - a.mean * a.mean) +
                            std::max(0.0, b.rms * b.rms - b.mean * b.mean);
    estimate.rms = std::sqrt(variance + estimate.mean * estimate.mean);
    const bool one_sign = (a.low >= 0 && b.low >= 0) || (a.high <= 0 && b.high <= 0);
    estimate.absolute = a.absolute + b.absolute;
    if (one_sign)
      estimate.relative = std::max(a.relative, b.relative);
    else
      estimate.absolute += a.relative * a.largest() + b.relative * b.largest();
    estimate.grid = finer(a.grid, b.grid);
    return rounded(estimate);
  }

  // From the least to the largest that the operation makes of the ends of the operands' ranges.
  template <class Operation>
  static Estimate at_corners(const Estimate& a, const Estimate& b, const Operation& operation) {
    const auto corners = {operation(a.low, b.low), operation(a.low, b.high),
                          operation(a.high, b.low), operation(a.high, b.high)};
    return {std::min(corners), std::max(corners)};
  }

  Estimate product() const {
    const Estimate &a = operand(0), &b = operand(1);
    const bool square = value_->operands[0] == value_->operands[1];
    Estimate estimate = at_corners(a, b, std::multiplies());
    if (square) estimate.low = a.smallest * a.smallest;
    estimate.smallest = a.smallest * b.smallest;
    estimate.mean = square ? a.rms * a.rms : a.mean * b.mean;
    estimate.rms = square ? a.rms * std::sqrt(a.rms * a.largest()) : a.rms * b.rms;
    estimate.absolute = a.absolute * b.largest() + b.absolute * a.largest();
    estimate.relative = a.relative + b.relative;
    if (a.grid && b.grid) {
      const std::int64_t grid = std::int64_t{*a.grid} + *b.grid;
      estimate.grid =
          static_cast<int>(std::min<std::int64_t>(grid, std::numeric_limits<int>::max() / 2));
    }
    return rounded(estimate);
  }

  Estimate quotient() {
    const Estimate &a = operand(0), &b = operand(1);
    if (b.smallest <= 0) {
      demand(1, false);
      return unknown();
    }
    const double most = a.largest() / b.smallest;
    const bool one_sign = b.low > 0 || b.high < 0;
    Estimate estimate = one_sign ? at_corners(a, b, std::divides()) : Estimate{-most, most};
    estimate.smallest = a.smallest / b.largest();
    const double typical = std::max(b.rms, b.smallest);
    estimate.mean = one_sign ? a.mean / (b.mean == 0 ? typical : b.mean) : 0;
    estimate.rms = a.rms / typical;
    estimate.absolute = a.absolute / b.smallest;
    estimate.relative = a.relative + b.relative + b.absolute / b.smallest;
    int exponent = 0;
    const bool by_power = b.low == b.high && std::abs(std::frexp(b.low, &exponent)) == 0.5;
    if (by_power && a.grid && b.grid) {
      estimate.grid = *a.grid - *b.grid;
      if (a.is_exact()) return estimate;
    }
    estimate.relative += u_;
    return estimate;
  }

  Estimate power() {
    const Estimate &a = operand(0), &b = operand(1);
    if (a.low <= 0) {
      demand(0, false);
      return unknown();
    }
    Estimate estimate =
        at_corners(a, b, [](double base, double exponent) { return std::pow(base, exponent); });
    estimate.smallest = estimate.low;
    estimate.mean = estimate.rms = std::pow(std::max(a.mean, a.low), b.mean);
    estimate.relative =
        2 * kHardFunctionRoundings * u_ + b.largest() * (a.relative + a.absolute / a.smallest) +
        largest_of(std::log(a.low), std::log(a.high)) * (b.absolute + b.relative * b.largest());
    return estimate;
  }

  Estimate apply(const problem::ScalarFacts& facts) {
    const problem::CurveFacts& function = facts.function;
    const Estimate& x = operand(0);
    if (function.needs_positive && x.low <= 0) {
      demand(0, false);
      return unknown();
    }
    // Overflow of a sum of such values, or of their product with another, is as bad.
    const double most = problem::byte_size(value_->type) == 2 ? 8 : 40;
    const bool grows = function.curve == Curve::kExponential ||
                       function.curve == Curve::kShiftedExponential ||
                       function.curve == Curve::kHyperbolic;
    if (grows && x.high > most) demand(0, true);
    Estimate estimate;
    const auto at = [&](double argument) { return facts.value(&argument); };
    const double low = at(std::min(x.low, most)), high = at(std::min(x.high, most));
    estimate.low =
        function.oscillates ? -std::max(1.0, largest_of(low, high)) : std::min(low, high);
    estimate.high = function.oscillates ? -estimate.low : std::max(low, high);
    estimate.smallest = std::max({0.0, estimate.low, -estimate.high});
    estimate.mean = std::clamp(at(x.mean), estimate.low, estimate.high);
    estimate.rms = std::sqrt((low * low + high * high + estimate.mean * estimate.mean) / 3);
    const double error = x.absolute + x.relative * x.largest();
    if (function.curve == Curve::kExponential)
      estimate.relative = error;
    else if (function.curve == Curve::kRoot || function.curve == Curve::kReciprocalRoot)
      estimate.relative = (x.relative + (x.smallest > 0 ? x.absolute / x.smallest : 0)) / 2;
    else if (error > 0)
      estimate.absolute =
          error * slope_of(function.curve, std::max(x.smallest, 1e-300), x.largest());
    // Functions of narrower types are computed in f32 and rounded once.
    const double u = std::min(u_, unit_roundoff(ElementType::kF32));
    estimate.relative += u_ + (function.roundings - 1) * u;
    // Near its zero a logarithm is as exact as its argument only.
    if (function.curve == Curve::kLogarithm) estimate.absolute += u;
    return estimate;
  }

  // Sums of so many values of one sign stop to grow in the type where K u > 1.
  double growth(double terms) const { return terms * u_ > 1 ? terms : std::sqrt(terms); }

  // Whether a matrix unit may add the terms up: products of two values.
  bool may_truncate(const ElementValue& sum) const {
    const ElementValue& term = computation_.at(sum.operands.front());
    return matrix_units_ && sum.type == ElementType::kF32 &&
           term.kind == ElementValue::Kind::kOperation && term.operation.is(ScalarKind::kProduct) &&
           term.operands[0] != term.operands[1];
  }

  // Error of a sum of values of one sign in units of u, relative; of both signs in units of u rms.
  double of_one_sign(const ElementValue& sum) const {
    const auto terms = static_cast<double>(sum.terms);
    const double truncated = may_truncate(sum) ? terms / kTermsAtOnce / 2 : 0;
    return std::max(growth(terms), truncated);
  }
  double of_both_signs(const ElementValue& sum) const {
    const auto terms = static_cast<double>(sum.terms);
    const double truncated =
        may_truncate(sum) ? kRoundingDeviations * terms * std::sqrt(terms / 12) / kTermsAtOnce : 0;
    return std::max(terms, truncated);
  }

  Estimate reduction() {
    const Estimate term = operand(0);
    const Estimate start = value_->operands.size() > 1 ? operand(1) : Estimate{};
    const auto terms = static_cast<double>(value_->terms);
    if (value_->operation.facts().selects()) {
      // The start of a maximum is not a term of it: minus infinity, the lowest number.
      Estimate estimate = term;
      const bool is_identity =
          start.low == start.high && start.largest() > 1e4 * (1 + term.largest());
      if (!is_identity) widen(estimate, start);
      return estimate;
    }
    if (value_->operation.is(ScalarKind::kSum)) return sum_of_terms(term, start, terms);
    if (value_->operation.is(ScalarKind::kProduct) && problem::is_float(value_->type)) {
      Estimate estimate = unknown();
      estimate.relative = terms * (term.relative + u_);
      return estimate;
    }
    return unknown();
  }

  // The product of a full significand and a power of two is not rounded in a type that holds the
  // factor; a term of its own rounds as making it does.
  Estimate single_product(const Estimate& term, const Estimate& start) const {
    Estimate estimate{.low = std::min(0.0, term.low) + start.low,
                      .high = std::max(0.0, term.high) + start.high};
    estimate.rms = term.rms;
    estimate.absolute = start.absolute;
    int digits = 0;
    for (const InputValues& values : plan_.bindings) {
      if (values.kind != InputValues::Kind::kSparse) continue;
      digits = std::max(digits, values.digits);
      if (!values.alone) continue;
      estimate.absolute += term.absolute;
      estimate.relative = term.relative;
      return estimate;
    }
    if (problem::is_float(value_->type) && digits > significand_digits(value_->type))
      estimate.relative = u_;
    return estimate;
  }

  Estimate sum_of_terms(const Estimate& term, const Estimate& start, double terms) const {
    if (value_->root && plan_.single_products) return single_product(term, start);
    Estimate estimate;
    estimate.mean = terms * term.mean + start.mean;
    const double variance = terms * std::max(0.0, term.rms * term.rms - term.mean * term.mean);
    const double deviation = kRoundingDeviations * std::sqrt(variance);
    estimate.low = std::max(terms * term.low, terms * term.mean - deviation) + start.low;
    estimate.high = std::min(terms * term.high, terms * term.mean + deviation) + start.high;
    estimate.smallest = std::max({0.0, estimate.low, -estimate.high});
    estimate.rms = std::sqrt(variance + estimate.mean * estimate.mean);
    estimate.grid = finer(term.grid, start.grid);
    if (!problem::is_float(value_->type)) {
      estimate.absolute = terms * (term.absolute + term.relative * term.largest()) + start.absolute;
      return estimate;
    }
    double bound = terms * term.largest();
    if (value_->root && plan_.absolute_sum > 0) bound = std::min(bound, plan_.absolute_sum);
    if (term.is_exact() && start.is_exact() &&
        holds(value_->type, bound + start.largest(), estimate.grid))
      return estimate;
    estimate.grid.reset();
    const bool one_sign = (term.low >= 0 && start.low >= 0) || (term.high <= 0 && start.high <= 0);
    if (one_sign) {
      estimate.relative = of_one_sign(*value_) * u_ + std::max(term.relative, start.relative);
      estimate.absolute = terms * term.absolute + start.absolute;
      return estimate;
    }
    estimate.absolute =
        of_both_signs(*value_) * u_ * term.rms + std::sqrt(terms) * u_ * start.largest() +
        kErrorDeviations * std::sqrt(terms) * (term.absolute + term.relative * term.rms) +
        start.absolute + start.relative * start.largest();
    // Roundings grow with the partial sums, and those with the sum itself.
    estimate.relative = of_one_sign(*value_) * u_;
    return estimate;
  }

  Estimate softmax() const {
    const Estimate& x = operand(0);
    const auto terms = static_cast<double>(value_->terms);
    const double spread = std::max(0.0, x.high - x.low);
    Estimate estimate{.low = std::exp(-spread) / terms, .high = 1};
    estimate.smallest = estimate.low;
    estimate.mean = 1 / terms;
    estimate.rms = std::min(1.0, std::exp(spread / 2) / terms);
    const double argument = u_ * spread + 2 * (x.absolute + x.relative * x.largest());
    // The sum's error is that of its largest terms: fewer than all where they are spread out.
    const double effective = std::max(1.0, terms / std::exp(std::min(spread, 20.0) / 4));
    estimate.relative = argument + (kFunctionRoundings + growth(effective) + 2) * u_;
    return estimate;
  }

  Estimate attention() const {
    const Estimate &query = operand(0), &key = operand(1), &value = operand(2);
    const double scale = value_->operands.size() > 3 ? operand(3).largest() : 1;
    const auto inner = static_cast<double>(value_->inner_terms);
    const auto terms = static_cast<double>(value_->terms);
    // Scores and sums are in f32 at least; operands, and weights as they enter the second product,
    // in the type of the value.
    const ElementType narrow = computation_.at(value_->operands[2]).type;
    const double u = unit_roundoff(ElementType::kF32), v = unit_roundoff(narrow);
    const double size = scale * query.rms * key.rms * std::sqrt(inner);
    const double score =
        size * (std::sqrt(inner) * u + kErrorDeviations * v) + kRoundingDeviations * size * u +
        scale * std::sqrt(inner) * (query.absolute * key.rms + key.absolute * query.rms);
    const double weights =
        score + kFunctionRoundings * u + std::sqrt(std::sqrt(terms)) * u + (v > u ? v : 0);
    Estimate estimate{.low = value.low, .high = value.high, .mean = value.mean};
    estimate.rms = value.rms;
    estimate.absolute =
        value.absolute + value.relative * value.largest() + weights / 2 * value.largest();
    estimate.relative = u_;
    return estimate;
  }

  // Steps of names in parentheses, "elementwise(arith.addf, math.exp)".
  static double steps_of(std::string_view text) {
    const auto open = text.find('(');
    const std::string_view name = text.substr(0, open);
    if (open == std::string_view::npos || !text.ends_with(')') ||
        (name != "elementwise" && name != "reduction"))
      return kUnknownSteps;
    double steps = 0;
    std::string_view body = text.substr(open + 1, text.size() - open - 2);
    while (!body.empty()) {
      const auto comma = body.find(", ");
      const std::string_view each = body.substr(0, comma);
      body = comma == std::string_view::npos ? std::string_view{} : body.substr(comma + 2);
      const problem::ScalarFacts& facts = problem::scalar_facts(each);
      if (facts.converts_floats() || facts.kind == ScalarKind::kSignedConversion ||
          facts.kind == ScalarKind::kUnsignedConversion)
        continue;
      steps += each.starts_with("arith.") ? 1 : kHardFunctionRoundings;
    }
    return steps;
  }

  Estimate unknown() const {
    double size = 1.5, absolute = 0;
    bool exact = true;
    for (std::size_t i = 0; i < value_->operands.size(); ++i) {
      const Estimate& each = operand(i);
      if (!std::isfinite(each.largest())) continue;
      size = std::max(size, each.largest());
      absolute += each.absolute + each.relative * each.largest();
      exact &= each.is_exact();
    }
    Estimate estimate{.low = -size, .high = size, .rms = size / 2};
    const std::string& name = value_->operation.name();
    double steps = steps_of(name);
    if (steps == 0 && exact) return operand(0);
    const bool sums = name.starts_with("reduction") || steps == kUnknownSteps;
    if (sums) steps += kErrorDeviations * std::sqrt(static_cast<double>(value_->terms));
    // Names alone do not say that an integer goes through a float.
    const double u = problem::is_float(value_->type) ? u_ : unit_roundoff(ElementType::kF32);
    const bool floats = problem::is_float(value_->type) || name.find('f') != std::string::npos ||
                        name.find("math.") != std::string::npos;
    if (!floats && exact) return estimate;
    estimate.absolute = absolute + steps * u * size;
    estimate.relative = steps * u * (1 + size);
    return estimate;
  }

  const Computation& computation_;
  const InputPlan& plan_;
  bool matrix_units_;
  Rounding rounding_;
  const ElementValue* value_ = nullptr;
  double u_ = 0;
};

}  // namespace

double Estimate::largest() const {
  return largest_of(low, high);
}

Rounding estimate_rounding(const Computation& computation, const InputPlan& plan,
                           bool matrix_units) {
  return Analysis(computation, plan, matrix_units).run();
}

}  // namespace hone::measure
