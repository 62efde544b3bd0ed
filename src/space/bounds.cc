#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "space/arithmetic.h"
#include "space/narrow.h"

namespace hone::space {
namespace {

constexpr ValueInterval kTrue{1, 1};
constexpr ValueInterval kFalse{0, 0};

ValueInterval forward_logical(const Term& term, std::span<const ValueInterval> intervals) {
  const Value deciding = term.kind == Operator::kAnd ? 0 : 1;
  bool can_decide = false;
  bool must_decide = false;
  bool can_all_be_neutral = true;
  for (const TermId id : term.operands) {
    const ValueInterval& operand = intervals[id];
    if (operand.is_empty()) {
      can_all_be_neutral = false;
      continue;
    }
    can_decide = can_decide || operand.contains(deciding);
    must_decide = must_decide || operand.is_single(deciding);
    can_all_be_neutral = can_all_be_neutral && operand.contains(1 - deciding);
  }
  ValueInterval result = kEmptyInterval;
  if (can_decide) result = hull(result, {deciding, deciding});
  if (can_all_be_neutral && !must_decide) result = hull(result, {1 - deciding, 1 - deciding});
  return result;
}

ValueInterval forward_lookup(const LookupTable& table, ValueInterval key) {
  ValueInterval result = kEmptyInterval;
  for (const auto& [entry, value] : table.entries) {
    if (key.contains(entry)) result = hull(result, {value, value});
  }
  return result;
}

using Combine = ValueInterval (*)(ValueInterval, ValueInterval);

ValueInterval folded(const Term& term, std::span<const ValueInterval> intervals, Combine combine) {
  ValueInterval result = intervals[term.operands[0]];
  for (const TermId operand : std::span(term.operands).subspan(1))
    result = combine(result, intervals[operand]);
  return result;
}

// The interval of a term from those of its operands.
ValueInterval forward_interval(const TermGraph& graph, const Term& term,
                               std::span<const ValueInterval> intervals,
                               std::span<const ValueInterval> variables) {
  const auto operand = [&](std::size_t i) { return intervals[term.operands[i]]; };
  switch (term.kind) {
    case Operator::kConstant:
      if (term.value == kUndefined) return kEmptyInterval;
      return {term.value, term.value};
    case Operator::kVariable:
      return variables[static_cast<std::size_t>(term.value)];
    case Operator::kAdd:
      return folded(term, intervals, add);
    case Operator::kMultiply:
      return folded(term, intervals, multiply);
    case Operator::kDivide:
      return divide(operand(0), operand(1));
    case Operator::kModulo:
      return modulo(operand(0), operand(1));
    case Operator::kExactDivide:
      return solve_factor(operand(0), without_zero(operand(1)));
    case Operator::kMinimum:
    case Operator::kMaximum:
      if (operand(0).is_empty() || operand(1).is_empty()) return kEmptyInterval;
      return {apply(term.kind, operand(0).lower, operand(1).lower),
              apply(term.kind, operand(0).upper, operand(1).upper)};
    case Operator::kEqual:
    case Operator::kNotEqual:
    case Operator::kLess:
    case Operator::kLessEqual:
      return compare(term.kind, operand(0), operand(1));
    case Operator::kAnd:
    case Operator::kOr:
      return forward_logical(term, intervals);
    case Operator::kIfThenElse: {
      ValueInterval result = kEmptyInterval;
      if (operand(0).contains(1)) result = hull(result, operand(1));
      if (operand(0).contains(0)) result = hull(result, operand(2));
      return result;
    }
    case Operator::kLookup:
      return forward_lookup(graph.table(term.value), operand(0));
    default:
      return {};
  }
}

}  // namespace

std::vector<ValueInterval> forward_intervals(const TermGraph& graph,
                                             std::span<const ValueInterval> variables) {
  std::vector<ValueInterval> intervals(graph.size());
  for (TermId id = 0; id < graph.size(); ++id)
    intervals[id] = forward_interval(graph, graph[id], intervals, variables);
  return intervals;
}

bool is_always_defined(const TermGraph& graph, TermId id,
                       std::span<const ValueInterval> intervals) {
  const Term& term = graph[id];
  if (intervals[id].lower <= -kInfinity || intervals[id].upper >= kInfinity) return false;
  for (const TermId operand : term.operands) {
    if (!is_always_defined(graph, operand, intervals)) return false;
  }
  switch (term.kind) {
    case Operator::kConstant:
      return term.value != kUndefined;
    case Operator::kDivide:
    case Operator::kModulo:
      return !intervals[term.operands[1]].contains(0);
    case Operator::kExactDivide:
    case Operator::kLookup:
      return false;
    default:
      return true;
  }
}

namespace {

class Bounds {
 public:
  Bounds(const TermGraph& graph, std::span<const TermId> requirements,
         std::vector<ValueInterval> variables)
      : graph_(graph),
        requirements_(requirements),
        variables_(std::move(variables)),
        intervals_(graph.size()),
        demanded_(graph.size(), 0) {}

  std::optional<std::vector<ValueInterval>> run() {
    if (!tighten()) return std::nullopt;
    return std::move(variables_);
  }

 private:
  static constexpr int kMaximumRounds = 40;

  bool tighten() {
    for (int round = 0; round < kMaximumRounds; ++round) {
      changed_ = false;
      for (TermId id = 0; id < graph_.size(); ++id)
        intervals_[id] =
            intersect(intervals_[id], forward_interval(graph_, graph_[id], intervals_, variables_));
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

  void backward(TermId id) {
    const Term& term = graph_[id];
    const ValueInterval own = intervals_[id];
    switch (term.kind) {
      case Operator::kConstant:
        return;
      case Operator::kVariable:
        variables_[static_cast<std::size_t>(term.value)] = own;
        return;
      case Operator::kAdd:
        return backward_fold(term, own, 0, add, subtract);
      case Operator::kMultiply:
        return backward_fold(term, own, 1, multiply, solve_factor);
      case Operator::kDivide:
      case Operator::kModulo:
      case Operator::kExactDivide:
        return backward_division(term, own);
      case Operator::kMinimum:
      case Operator::kMaximum: {
        const bool is_minimum = term.kind == Operator::kMinimum;
        for (std::size_t i = 0; i < 2; ++i) {
          const ValueInterval other = intervals_[term.operands[1 - i]];
          ValueInterval wanted = is_minimum ? ValueInterval{own.lower, kInfinity}
                                            : ValueInterval{-kInfinity, own.upper};
          const bool other_cannot = is_minimum ? other.lower > own.upper : other.upper < own.lower;
          if (other_cannot) wanted = intersect(wanted, own);
          demand(term.operands[i], wanted);
        }
        return;
      }
      case Operator::kEqual:
      case Operator::kNotEqual:
      case Operator::kLess:
      case Operator::kLessEqual: {
        const TermId a = term.operands[0];
        const TermId b = term.operands[1];
        demand(a, {});
        demand(b, {});
        if (own.is_single(1)) backward_comparison(term.kind, a, b);
        if (own.is_single(0)) {
          if (term.kind == Operator::kEqual) backward_comparison(Operator::kNotEqual, a, b);
          if (term.kind == Operator::kNotEqual) backward_comparison(Operator::kEqual, a, b);
          if (term.kind == Operator::kLess) backward_comparison(Operator::kLessEqual, b, a);
          if (term.kind == Operator::kLessEqual) backward_comparison(Operator::kLess, b, a);
        }
        return;
      }
      case Operator::kAnd:
      case Operator::kOr:
        return backward_logical(term, own);
      case Operator::kIfThenElse:
        return backward_choice(term, own);
      case Operator::kLookup:
        return backward_lookup(term, own);
      default:
        return;
    }
  }

  // Requires `term` to be defined and in `interval`.
  void demand(TermId term, ValueInterval interval) {
    demanded_[term] = 1;
    const ValueInterval narrowed = intersect(intervals_[term], interval);
    if (narrowed == intervals_[term]) return;
    intervals_[term] = narrowed;
    changed_ = true;
  }

  // For a sum or a product. `solve`: what it leaves for an operand, given the others together.
  void backward_fold(const Term& term, ValueInterval own, Value neutral, Combine combine,
                     Combine solve) {
    for (std::size_t i = 0; i < term.operands.size(); ++i) {
      ValueInterval others{neutral, neutral};
      for (std::size_t j = 0; j < term.operands.size(); ++j) {
        if (j != i) others = combine(others, intervals_[term.operands[j]]);
      }
      demand(term.operands[i], solve(own, others));
    }
  }

  void backward_division(const Term& term, ValueInterval own) {
    const TermId a = term.operands[0];
    const TermId b = term.operands[1];
    demand(a, {});
    demand(b, without_zero(intervals_[b]));
    const ValueInterval dividend = intervals_[a];
    const ValueInterval divisor = intervals_[b];
    if (term.kind == Operator::kExactDivide) {
      demand(a, multiply(own, divisor));
      return;
    }
    if (term.kind == Operator::kDivide) {
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

  void backward_comparison(Operator kind, TermId a, TermId b) {
    const ValueInterval left = intervals_[a];
    const ValueInterval right = intervals_[b];
    switch (kind) {
      case Operator::kEqual:
        demand(a, right);
        demand(b, left);
        return;
      case Operator::kNotEqual: {
        const auto cut = [this](TermId term, ValueInterval own, ValueInterval other) {
          if (!other.is_single()) return;
          if (own.lower == other.lower) ++own.lower;
          if (own.upper == other.lower) --own.upper;
          demand(term, own);
        };
        cut(a, left, right);
        cut(b, right, left);
        return;
      }
      case Operator::kLess:
        if (right.upper < kInfinity) demand(a, {-kInfinity, right.upper - 1});
        if (left.lower > -kInfinity) demand(b, {left.lower + 1, kInfinity});
        return;
      default:
        demand(a, {-kInfinity, right.upper});
        demand(b, {left.lower, kInfinity});
        return;
    }
  }

  void backward_logical(const Term& term, ValueInterval own) {
    const Value deciding = term.kind == Operator::kAnd ? 0 : 1;
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

  void backward_choice(const Term& term, ValueInterval own) {
    const auto [condition, then, otherwise] =
        std::tuple{term.operands[0], term.operands[1], term.operands[2]};
    demand(condition, kAnyBoolean);
    if (intersect(intervals_[then], own).is_empty()) demand(condition, kFalse);
    if (intersect(intervals_[otherwise], own).is_empty()) demand(condition, kTrue);
    if (intervals_[condition].is_single(1)) demand(then, own);
    if (intervals_[condition].is_single(0)) demand(otherwise, own);
  }

  void backward_lookup(const Term& term, ValueInterval own) {
    ValueInterval keys = kEmptyInterval;
    const ValueInterval key = intervals_[term.operands[0]];
    for (const auto& [entry, value] : graph_.table(term.value).entries) {
      if (key.contains(entry) && own.contains(value)) keys = hull(keys, {entry, entry});
    }
    demand(term.operands[0], keys);
  }

  const TermGraph& graph_;
  std::span<const TermId> requirements_;
  std::vector<ValueInterval> variables_;
  std::vector<ValueInterval> intervals_;  // by term
  std::vector<char> demanded_;            // by term: defined in every solution
  bool changed_ = false;
};

}  // namespace

std::optional<std::vector<ValueInterval>> tightened(const TermGraph& graph,
                                                    std::span<const TermId> requirements,
                                                    std::vector<ValueInterval> variables) {
  return Bounds(graph, requirements, std::move(variables)).run();
}

}  // namespace hone::space
