#include "space/narrow.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace hone::space {
namespace {

// A range of at most this many values becomes a list at once.
constexpr std::size_t kSmallRange = 4096;
// Largest number of value pairs of a two-variable test that is tried before enumeration.
constexpr std::size_t kMaximumPairs = 256;
// Limits for listing divisors: values that an expression may have, and combinations tried to find
// them.
constexpr std::size_t kMaximumDividends = 64;
constexpr std::size_t kMaximumCombinations = 256;
// Largest value whose divisors are listed, by trial division up to its root.
constexpr Value kLargestDividend = Value{1} << 40;
constexpr int kMaximumRounds = 8;

void append_divisors(Value dividend, bool negative_too, std::vector<Value>& divisors) {
  const Value magnitude = std::abs(dividend);
  for (Value divisor = 1; divisor * divisor <= magnitude; ++divisor) {
    if (magnitude % divisor != 0) continue;
    for (const Value value : {divisor, magnitude / divisor}) {
      divisors.push_back(value);
      if (negative_too) divisors.push_back(-value);
    }
  }
}

void sort_without_repeats(std::vector<Value>& values) {
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
}

class Narrowing {
 public:
  Narrowing(TermGraph& graph, std::vector<TermId> requirements, std::vector<Domain> domains)
      : graph_(graph),
        requirements_(std::move(requirements)),
        domains_(std::move(domains)),
        scratch_(domains_.size(), 0) {}

  Narrowed run() {
    for (int round = 0; round < kMaximumRounds && feasible_; ++round) {
      changed_ = false;
      feasible_ = tighten_bounds();
      if (feasible_) list_ranges();
      if (feasible_) filter_by_one();
      if (feasible_) filter_by_two();
      if (!changed_) break;
    }
    if (feasible_) drop_entailed();
    return {feasible_, std::move(domains_), std::move(requirements_)};
  }

 private:
  bool tighten_bounds() {
    const auto bounds = tightened(graph_, requirements_, intervals_of(domains_));
    if (!bounds) return false;
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      const ValueInterval interval = (*bounds)[i];
      if (interval == domains_[i].interval) continue;
      if (interval.is_empty()) return false;
      changed_ = true;
      domains_[i].interval = interval;
      if (!domains_[i].listed) continue;
      std::vector<Value> left = domains_[i].values;
      std::erase_if(left, [&](Value value) { return !interval.contains(value); });
      set_values(i, std::move(left));
    }
    return feasible_;
  }

  void list_ranges() {
    for (std::size_t i = 0; i < domains_.size() && feasible_; ++i) {
      Domain& domain = domains_[i];
      if (domain.listed) continue;
      if (auto divisors = divisors_for(i)) {
        set_values(i, std::move(*divisors));
      } else if (domain.size() <= kSmallRange) {
        set_values(i, domain.all_values());
      }
    }
  }

  void filter_by_one() {
    std::erase_if(requirements_, [&](TermId requirement) {
      if (graph_[requirement].variables.count() != 1) return false;
      const std::size_t variable = graph_[requirement].variables._Find_first();
      if (!domains_[variable].listed || !feasible_) return false;
      std::vector<Value> left = domains_[variable].values;
      std::erase_if(left, [&](Value value) {
        scratch_[variable] = value;
        return graph_.evaluate(requirement, scratch_) != 1;
      });
      set_values(variable, std::move(left));
      return true;
    });
  }

  void filter_by_two() {
    std::erase_if(requirements_, [&](TermId requirement) {
      if (!feasible_ || graph_[requirement].variables.count() != 2) return false;
      const std::size_t a = graph_[requirement].variables._Find_first();
      const std::size_t b = graph_[requirement].variables._Find_next(a);
      if (!domains_[a].listed || !domains_[b].listed) return false;
      const std::vector<Value>& first = domains_[a].values;
      const std::vector<Value>& second = domains_[b].values;
      if (first.size() * second.size() > kMaximumPairs) return false;
      std::vector<char> first_used(first.size(), 0);
      std::vector<char> second_used(second.size(), 0);
      bool all_hold = true;
      for (std::size_t i = 0; i < first.size(); ++i) {
        scratch_[a] = first[i];
        for (std::size_t j = 0; j < second.size(); ++j) {
          scratch_[b] = second[j];
          if (graph_.evaluate(requirement, scratch_) == 1) {
            first_used[i] = second_used[j] = 1;
          } else {
            all_hold = false;
          }
        }
      }
      const auto keep = [&](std::size_t variable, const std::vector<char>& used) {
        std::vector<Value> left;
        for (std::size_t i = 0; i < used.size(); ++i) {
          if (used[i]) left.push_back(domains_[variable].values[i]);
        }
        set_values(variable, std::move(left));
      };
      keep(a, first_used);
      if (feasible_) keep(b, second_used);
      return all_hold;
    });
  }

  void drop_entailed() {
    const std::vector<ValueInterval> forward = forward_intervals(graph_, intervals_of(domains_));
    std::erase_if(requirements_, [&](TermId requirement) {
      return forward[requirement].is_single(1) && is_always_defined(graph_, requirement, forward);
    });
  }

  // Returns the values that `term` can have, if few combinations of its variables' values give
  // them.
  std::optional<std::vector<Value>> values_of(TermId term) {
    const std::vector<std::size_t> variables = indices(graph_[term].variables);
    std::size_t combinations = 1;
    for (const std::size_t variable : variables) {
      if (!domains_[variable].listed) return std::nullopt;
      combinations *= domains_[variable].values.size();
      if (combinations > kMaximumCombinations) return std::nullopt;
    }
    std::vector<Value> values;
    for (std::size_t i = 0; i < combinations; ++i) {
      std::size_t rest = i;
      for (const std::size_t variable : variables) {
        const std::vector<Value>& domain = domains_[variable].values;
        scratch_[variable] = domain[rest % domain.size()];
        rest /= domain.size();
      }
      const Value value = graph_.evaluate(term, scratch_);
      if (value != kUndefined) values.push_back(value);
    }
    sort_without_repeats(values);
    if (values.size() > kMaximumDividends) return std::nullopt;
    return values;
  }

  // The divisors of the values of an expression that `variable` is required to divide.
  std::optional<std::vector<Value>> divisors_for(std::size_t variable) {
    const TermId own = graph_.variable(variable);
    const auto has_factor = [&](TermId term) {
      const Term& shape = graph_[term];
      return term == own || (shape.kind == Operator::kMultiply &&
                             std::ranges::find(shape.operands, own) != shape.operands.end());
    };
    for (const TermId requirement : requirements_) {
      const Term& shape = graph_[requirement];
      if (shape.kind != Operator::kEqual || !shape.variables.test(variable)) continue;
      std::optional<TermId> dividend;
      for (std::size_t i = 0; i < 2; ++i) {
        const TermId side = shape.operands[i];
        const TermId other = shape.operands[1 - i];
        const bool is_remainder =
            graph_[side].kind == Operator::kModulo && graph_.is_constant(other, 0);
        if (is_remainder && has_factor(graph_[side].operands[1])) {
          dividend = graph_[side].operands[0];
        } else if (side != own && has_factor(side)) {
          dividend = other;
        }
      }
      if (!dividend || graph_[*dividend].variables.test(variable)) continue;
      const auto dividends = values_of(*dividend);
      if (!dividends) continue;
      const ValueInterval interval = domains_[variable].interval;
      const bool usable = std::ranges::all_of(*dividends, [](Value value) {
        return value != 0 && std::abs(value) <= kLargestDividend;
      });
      if (!usable) continue;
      std::vector<Value> divisors;
      for (const Value value : *dividends) append_divisors(value, interval.lower < 0, divisors);
      sort_without_repeats(divisors);
      std::erase_if(divisors, [&](Value value) { return !interval.contains(value); });
      return divisors;
    }
    return std::nullopt;
  }

  void set_values(std::size_t variable, std::vector<Value> values) {
    Domain& domain = domains_[variable];
    if (values.empty()) {
      feasible_ = false;
      return;
    }
    const auto [low, high] = std::ranges::minmax_element(values);
    changed_ = changed_ || domain.listed != true || domain.values.size() != values.size();
    domain.interval = {*low, *high};
    domain.listed = true;
    domain.values = std::move(values);
  }

  TermGraph& graph_;
  std::vector<TermId> requirements_;
  std::vector<Domain> domains_;
  std::vector<Value> scratch_;  // a value per variable, for evaluation
  bool changed_ = false;
  bool feasible_ = true;
};

}  // namespace

std::size_t Domain::size() const {
  if (listed) return values.size();
  if (interval.is_empty()) return 0;
  return static_cast<std::size_t>(interval.upper - interval.lower) + 1;
}

std::vector<Value> Domain::all_values() const {
  if (listed) return values;
  std::vector<Value> all(size());
  std::iota(all.begin(), all.end(), interval.lower);
  return all;
}

std::vector<ValueInterval> intervals_of(std::span<const Domain> domains) {
  std::vector<ValueInterval> intervals;
  for (const Domain& domain : domains) intervals.push_back(domain.interval);
  return intervals;
}

bool Domain::contains(Value value) const {
  if (!interval.contains(value)) return false;
  return !listed || std::ranges::find(values, value) != values.end();
}

Narrowed narrow(TermGraph& graph, std::vector<TermId> requirements, std::vector<Domain> domains) {
  for (const TermId requirement : requirements) {
    if (graph.is_constant(requirement)) return {false, std::move(domains), {}};
  }
  return Narrowing(graph, std::move(requirements), std::move(domains)).run();
}

bool list_values(const TermGraph& graph, const std::vector<TermId>& requirements,
                 std::size_t variable, std::size_t most, Domain& domain) {
  if (domain.listed) return true;
  if (domain.size() > most) return false;
  std::vector<TermId> own;
  for (const TermId requirement : requirements) {
    const VariableSet& variables = graph[requirement].variables;
    if (variables.count() == 1 && variables.test(variable)) own.push_back(requirement);
  }
  std::vector<Value> scratch(variable + 1, 0);
  domain.values = domain.all_values();
  std::erase_if(domain.values, [&](Value value) {
    scratch[variable] = value;
    return !std::ranges::all_of(
        own, [&](TermId requirement) { return graph.evaluate(requirement, scratch) == 1; });
  });
  domain.listed = true;
  return true;
}

}  // namespace hone::space
