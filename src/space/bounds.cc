#include "space/bounds.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "space/arithmetic.h"

namespace hone::space {
namespace {

constexpr Interval kTrue{1, 1};
constexpr Interval kFalse{0, 0};

Interval forward_logical(Operation kind, std::span<const Interval> operands) {
  const Value deciding = kind == Operation::kAnd ? 0 : 1;
  bool can_decide = false;
  bool must_decide = false;
  bool can_all_be_neutral = true;
  for (const Interval& operand : operands) {
    if (operand.is_empty()) {
      can_all_be_neutral = false;
      continue;
    }
    can_decide = can_decide || operand.contains(deciding);
    must_decide = must_decide || operand.is_single(deciding);
    can_all_be_neutral = can_all_be_neutral && operand.contains(1 - deciding);
  }
  Interval result = kEmptyInterval;
  if (can_decide) result = hull(result, {deciding, deciding});
  if (can_all_be_neutral && !must_decide) result = hull(result, {1 - deciding, 1 - deciding});
  return result;
}

Interval forward_lookup(const LookupTable& table, Interval key) {
  Interval result = kEmptyInterval;
  for (const auto& [entry, value] : table.entries) {
    if (key.contains(entry)) result = hull(result, {value, value});
  }
  return result;
}

Interval folded(std::span<const Interval> operands, Interval (*combine)(Interval, Interval)) {
  Interval result = operands[0];
  for (const Interval& operand : operands.subspan(1)) result = combine(result, operand);
  return result;
}

// The interval of a term from those of its operands.
Interval forward_interval(const TermGraph& graph, const Term& term,
                          std::span<const Interval> operands, std::span<const Interval> variables) {
  switch (term.kind) {
    case Operation::kConstant:
      if (term.value == kUndefined) return kEmptyInterval;
      return {term.value, term.value};
    case Operation::kVariable:
      return variables[static_cast<std::size_t>(term.value)];
    case Operation::kAdd:
      return folded(operands, add);
    case Operation::kMultiply:
      return folded(operands, multiply);
    case Operation::kDivide:
      return divide(operands[0], operands[1]);
    case Operation::kModulo:
      return modulo(operands[0], operands[1]);
    case Operation::kExactDivide:
      return solve_factor(operands[0], without_zero(operands[1]));
    case Operation::kMinimum:
      if (operands[0].is_empty() || operands[1].is_empty()) return kEmptyInterval;
      return {std::min(operands[0].lower, operands[1].lower),
              std::min(operands[0].upper, operands[1].upper)};
    case Operation::kMaximum:
      if (operands[0].is_empty() || operands[1].is_empty()) return kEmptyInterval;
      return {std::max(operands[0].lower, operands[1].lower),
              std::max(operands[0].upper, operands[1].upper)};
    case Operation::kEqual:
    case Operation::kNotEqual:
    case Operation::kLess:
    case Operation::kLessEqual:
      return compare(term.kind, operands[0], operands[1]);
    case Operation::kAnd:
    case Operation::kOr:
      return forward_logical(term.kind, operands);
    case Operation::kIfThenElse: {
      Interval result = kEmptyInterval;
      if (operands[0].contains(1)) result = hull(result, operands[1]);
      if (operands[0].contains(0)) result = hull(result, operands[2]);
      return result;
    }
    case Operation::kLookup:
      return forward_lookup(graph.table(term.value), operands[0]);
    default:
      return {};
  }
}

}  // namespace

std::vector<Interval> forward_intervals(const TermGraph& graph,
                                        std::span<const Interval> variables) {
  std::vector<Interval> intervals(graph.size());
  std::vector<Interval> operands;
  for (TermId id = 0; id < graph.size(); ++id) {
    operands.clear();
    for (const TermId operand : graph[id].operands) operands.push_back(intervals[operand]);
    intervals[id] = forward_interval(graph, graph[id], operands, variables);
  }
  return intervals;
}

bool is_always_defined(const TermGraph& graph, TermId id, std::span<const Interval> intervals) {
  const Term& term = graph[id];
  if (intervals[id].lower <= -kInfinity || intervals[id].upper >= kInfinity) return false;
  for (const TermId operand : term.operands) {
    if (!is_always_defined(graph, operand, intervals)) return false;
  }
  switch (term.kind) {
    case Operation::kConstant:
      return term.value != kUndefined;
    case Operation::kDivide:
    case Operation::kModulo:
      return !intervals[term.operands[1]].contains(0);
    case Operation::kExactDivide:
    case Operation::kLookup:
      return false;
    default:
      return true;
  }
}

Bounds::Bounds(const TermGraph& graph, std::span<const TermId> requirements,
               std::vector<Interval> variables)
    : graph_(graph),
      requirements_(requirements),
      variables_(std::move(variables)),
      intervals_(graph.size()),
      demanded_(graph.size(), 0) {}

bool Bounds::tighten() {
  for (int round = 0; round < kMaximumRounds; ++round) {
    changed_ = false;
    std::vector<Interval> operands;
    for (TermId id = 0; id < graph_.size(); ++id) {
      operands.clear();
      for (const TermId operand : graph_[id].operands) operands.push_back(intervals_[operand]);
      intervals_[id] =
          intersect(intervals_[id], forward_interval(graph_, graph_[id], operands, variables_));
    }
    for (const TermId requirement : requirements_) demand(requirement, kTrue);
    for (TermId id = static_cast<TermId>(graph_.size()); id-- > 0;) {
      if (!demanded_[id]) continue;
      if (intervals_[id].is_empty()) return false;
      backward(id);
    }
    for (TermId id = 0; id < graph_.size(); ++id) {
      if (demanded_[id] && intervals_[id].is_empty()) return false;
    }
    if (!changed_) return true;
  }
  return true;
}

void Bounds::demand(TermId term, Interval interval) {
  demanded_[term] = 1;
  const Interval narrowed = intersect(intervals_[term], interval);
  if (narrowed == intervals_[term]) return;
  intervals_[term] = narrowed;
  changed_ = true;
}

void Bounds::backward(TermId id) {
  const Term& term = graph_[id];
  const Interval own = intervals_[id];
  switch (term.kind) {
    case Operation::kConstant:
      return;
    case Operation::kVariable:
      variables_[static_cast<std::size_t>(term.value)] = own;
      return;
    case Operation::kAdd:
      return backward_sum(term, own);
    case Operation::kMultiply:
      return backward_product(term, own);
    case Operation::kDivide:
    case Operation::kModulo:
    case Operation::kExactDivide:
      return backward_division(term, own);
    case Operation::kMinimum:
    case Operation::kMaximum: {
      const bool is_minimum = term.kind == Operation::kMinimum;
      for (std::size_t i = 0; i < 2; ++i) {
        const Interval other = intervals_[term.operands[1 - i]];
        Interval wanted =
            is_minimum ? Interval{own.lower, kInfinity} : Interval{-kInfinity, own.upper};
        const bool other_cannot = is_minimum ? other.lower > own.upper : other.upper < own.lower;
        if (other_cannot) wanted = intersect(wanted, own);
        demand(term.operands[i], wanted);
      }
      return;
    }
    case Operation::kEqual:
    case Operation::kNotEqual:
    case Operation::kLess:
    case Operation::kLessEqual: {
      const TermId a = term.operands[0];
      const TermId b = term.operands[1];
      demand(a, {});
      demand(b, {});
      if (own.is_single(1)) backward_comparison(term.kind, a, b);
      if (own.is_single(0)) {
        if (term.kind == Operation::kEqual) backward_comparison(Operation::kNotEqual, a, b);
        if (term.kind == Operation::kNotEqual) backward_comparison(Operation::kEqual, a, b);
        if (term.kind == Operation::kLess) backward_comparison(Operation::kLessEqual, b, a);
        if (term.kind == Operation::kLessEqual) backward_comparison(Operation::kLess, b, a);
      }
      return;
    }
    case Operation::kAnd:
    case Operation::kOr:
      return backward_logical(term, own);
    case Operation::kIfThenElse:
      return backward_choice(term, own);
    case Operation::kLookup:
      return backward_lookup(term, own);
    default:
      return;
  }
}

void Bounds::backward_sum(const Term& term, Interval own) {
  for (std::size_t i = 0; i < term.operands.size(); ++i) {
    Interval others{0, 0};
    for (std::size_t j = 0; j < term.operands.size(); ++j) {
      if (j != i) others = add(others, intervals_[term.operands[j]]);
    }
    demand(term.operands[i], subtract(own, others));
  }
}

void Bounds::backward_product(const Term& term, Interval own) {
  for (std::size_t i = 0; i < term.operands.size(); ++i) {
    Interval others{1, 1};
    for (std::size_t j = 0; j < term.operands.size(); ++j) {
      if (j != i) others = multiply(others, intervals_[term.operands[j]]);
    }
    demand(term.operands[i], solve_factor(own, others));
  }
}

void Bounds::backward_division(const Term& term, Interval own) {
  const TermId a = term.operands[0];
  const TermId b = term.operands[1];
  demand(a, {});
  demand(b, without_zero(intervals_[b]));
  const Interval dividend = intervals_[a];
  const Interval divisor = intervals_[b];
  if (term.kind == Operation::kExactDivide) {
    demand(a, multiply(own, divisor));
    return;
  }
  if (term.kind == Operation::kDivide) {
    demand(a, narrow_dividend(dividend, divisor, own));
    // A quotient of at least 1 of a positive dividend bounds a positive divisor.
    if (own.lower >= 1 && dividend.lower >= 0 && divisor.lower >= 1) {
      demand(b, {1, dividend.upper / own.lower});
    }
    return;
  }
  if (own.is_single(0) && !dividend.contains(0)) {
    // A divisor is no larger than what it divides.
    const Value largest = std::max(std::abs(dividend.lower), std::abs(dividend.upper));
    demand(b, {-largest, largest});
    if (divisor.lower >= 1 && dividend.lower >= 1) demand(a, {divisor.lower, kInfinity});
  }
  if (own.is_single(0) && divisor.is_single() && divisor.lower != 0) {
    const Value step = std::abs(divisor.lower);
    const Value lower =
        dividend.lower <= -kInfinity ? -kInfinity : -divide(-dividend.lower, step) * step;
    const Value upper =
        dividend.upper >= kInfinity ? kInfinity : divide(dividend.upper, step) * step;
    demand(a, {lower, upper});
  }
  // The remainder is below |divisor|.
  if (own.lower >= 1 && divisor.lower >= 0) demand(b, {own.lower + 1, kInfinity});
}

void Bounds::backward_comparison(Operation kind, TermId a, TermId b) {
  const Interval left = intervals_[a];
  const Interval right = intervals_[b];
  switch (kind) {
    case Operation::kEqual:
      demand(a, right);
      demand(b, left);
      return;
    case Operation::kNotEqual: {
      const auto cut = [this](TermId term, Interval own, Interval other) {
        if (!other.is_single()) return;
        if (own.lower == other.lower) ++own.lower;
        if (own.upper == other.lower) --own.upper;
        demand(term, own);
      };
      cut(a, left, right);
      cut(b, right, left);
      return;
    }
    case Operation::kLess:
      if (right.upper < kInfinity) demand(a, {-kInfinity, right.upper - 1});
      if (left.lower > -kInfinity) demand(b, {left.lower + 1, kInfinity});
      return;
    default:
      demand(a, {-kInfinity, right.upper});
      demand(b, {left.lower, kInfinity});
      return;
  }
}

void Bounds::backward_logical(const Term& term, Interval own) {
  const Value deciding = term.kind == Operation::kAnd ? 0 : 1;
  if (own.is_single(1 - deciding)) {
    for (const TermId operand : term.operands) demand(operand, own);
    return;
  }
  if (!own.is_single(deciding)) return;
  // Demand the deciding value from the only operand that can have it.
  std::size_t able = 0;
  TermId last = 0;
  for (const TermId operand : term.operands) {
    if (intervals_[operand].is_empty() || !intervals_[operand].contains(deciding)) continue;
    ++able;
    last = operand;
  }
  if (able == 1) demand(last, own);
}

void Bounds::backward_choice(const Term& term, Interval own) {
  const auto [condition, then, otherwise] =
      std::tuple{term.operands[0], term.operands[1], term.operands[2]};
  demand(condition, kAnyBoolean);
  if (intersect(intervals_[then], own).is_empty()) demand(condition, kFalse);
  if (intersect(intervals_[otherwise], own).is_empty()) demand(condition, kTrue);
  if (intervals_[condition].is_single(1)) demand(then, own);
  if (intervals_[condition].is_single(0)) demand(otherwise, own);
}

void Bounds::backward_lookup(const Term& term, Interval own) {
  Interval keys = kEmptyInterval;
  const Interval key = intervals_[term.operands[0]];
  for (const auto& [entry, value] : graph_.table(term.value).entries) {
    if (key.contains(entry) && own.contains(value)) keys = hull(keys, {entry, entry});
  }
  demand(term.operands[0], keys);
}

}  // namespace hone::space
