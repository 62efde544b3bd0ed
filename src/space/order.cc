#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "space/narrow.h"
#include "space/plan.h"

namespace hone::space {
namespace {

// Returns the position of the only operand with the variable; nullopt if several have it.
std::optional<std::size_t> only_operand_with(const TermGraph& graph, const Term& term,
                                             std::size_t variable) {
  std::optional<std::size_t> position;
  for (std::size_t i = 0; i < term.operands.size(); ++i) {
    if (!graph[term.operands[i]].variables.test(variable)) continue;
    if (position) return std::nullopt;
    position = i;
  }
  return position;
}

// Whether `requirement` is an equality with at most one solution for `variable`, for all values of
// the others. The variable must occur once, under sums and products whose other factors cannot be
// 0. `intervals`: of the terms, from forward_intervals().
bool can_solve(const TermGraph& graph, TermId requirement, std::size_t variable,
               std::span<const ValueInterval> intervals) {
  if (graph[requirement].kind != Operator::kEqual) return false;
  TermId id = requirement;
  while (graph[id].kind != Operator::kVariable) {
    const Term& term = graph[id];
    const bool invertible =
        id == requirement || term.kind == Operator::kAdd || term.kind == Operator::kMultiply;
    const auto position = only_operand_with(graph, term, variable);
    if (!invertible || !position) return false;
    if (term.kind == Operator::kMultiply) {
      for (std::size_t i = 0; i < term.operands.size(); ++i) {
        if (i != *position && intervals[term.operands[i]].contains(0)) return false;
      }
    }
    id = term.operands[*position];
  }
  return true;
}

}  // namespace

TermId solve(TermGraph& graph, TermId requirement, std::size_t variable) {
  const std::vector<TermId> sides = graph[requirement].operands;
  const bool first = graph[sides[0]].variables.test(variable);
  TermId side = sides[first ? 0 : 1];
  TermId target = sides[first ? 1 : 0];
  while (graph[side].kind != Operator::kVariable) {
    const Term term = graph[side];
    const std::size_t position = *only_operand_with(graph, term, variable);
    std::vector<TermId> others = term.operands;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(position));
    if (term.kind == Operator::kAdd) {
      target = graph.difference(target, graph.sum(others));
    } else {
      target = graph.binary(Operator::kExactDivide, target, graph.product(others));
    }
    side = term.operands[position];
  }
  return target;
}

namespace {

// Number of variables up to which each is tried as the first; above it, fewer are.
constexpr std::size_t kTryAllFirst = 12;
constexpr std::size_t kFirstTries = 4;

struct Equality {
  TermId requirement;
  VariableSet variables;
  VariableSet solvable;  // the variables it can be solved for
};

class Ordering {
 public:
  Ordering(const TermGraph& graph, std::span<const TermId> requirements,
           std::span<const Domain> domains) {
    for (const Domain& domain : domains)
      bits_.push_back(std::log2(std::max<double>(1.0, static_cast<double>(domain.size()))));
    const std::vector<ValueInterval> terms = forward_intervals(graph, intervals_of(domains));
    for (const TermId requirement : requirements) {
      const Term& term = graph[requirement];
      scopes_.push_back(term.variables);
      if (term.kind != Operator::kEqual) continue;
      Equality equality{requirement, term.variables, {}};
      for (const std::size_t i : indices(term.variables))
        if (can_solve(graph, requirement, i, terms)) equality.solvable.set(i);
      if (equality.solvable.any()) equalities_.push_back(equality);
    }
  }

  // Returns steps for all of `to_try`, and for variables of `to_compute` that equalities give,
  // after the variables `known`.
  std::vector<Step> steps(const VariableSet& known, const std::vector<std::size_t>& to_try,
                          const VariableSet& to_compute) const {
    VariableSet constrained;
    for (const VariableSet& scope : scopes_) constrained |= scope;
    // Variables without requirements go last: in front they would only repeat every failure.
    std::vector<std::size_t> bound;
    std::vector<std::size_t> unbound;
    for (const std::size_t variable : to_try) {
      (constrained.test(variable) ? bound : unbound).push_back(variable);
    }
    Partial start;
    start.assigned = known;
    compute_what_follows(start, to_compute);
    std::vector<std::size_t> firsts;
    for (const std::size_t variable : bound) {
      if (!start.assigned.test(variable)) firsts.push_back(variable);
    }
    if (firsts.size() > kTryAllFirst) firsts.resize(kFirstTries);
    Partial best = start;
    best.cost = std::numeric_limits<double>::infinity();
    for (const std::size_t first : firsts) {
      Partial partial = start;
      partial.cost = std::exp2(bits_[first]);
      assign(partial, first, to_compute);
      partial = complete(std::move(partial), bound, to_compute);
      if (partial.cost < best.cost) best = std::move(partial);
    }
    for (const std::size_t variable : unbound) {
      if (!best.assigned.test(variable)) best.steps.push_back({variable, std::nullopt});
    }
    return best.steps;
  }

 private:
  struct Partial {
    VariableSet assigned;
    std::vector<Step> steps;
    double cost = 0;  // estimated edges of the search graph
  };

  void compute_what_follows(Partial& partial, const VariableSet& to_compute) const {
    for (bool again = true; again;) {
      again = false;
      for (const Equality& equality : equalities_) {
        const VariableSet open = equality.variables & ~partial.assigned;
        if (open.count() != 1 || (open & equality.solvable & to_compute).none()) continue;
        const std::size_t variable = open._Find_first();
        partial.steps.push_back({variable, equality.requirement});
        partial.assigned.set(variable);
        again = true;
      }
    }
  }

  void assign(Partial& partial, std::size_t variable, const VariableSet& to_compute) const {
    partial.steps.push_back({variable, std::nullopt});
    partial.assigned.set(variable);
    compute_what_follows(partial, to_compute);
  }

  // log2 of the number of ways in which the assigned variables affect the rest.
  double width(const VariableSet& assigned) const {
    VariableSet open;
    for (const VariableSet& scope : scopes_) {
      if ((scope & ~assigned).any()) open |= scope & assigned;
    }
    double bits = 0;
    for (const std::size_t i : indices(open)) bits += bits_[i];
    return bits;
  }

  Partial complete(Partial partial, std::vector<std::size_t> to_try,
                   const VariableSet& to_compute) const {
    double before = width(partial.assigned);
    for (;;) {
      std::erase_if(to_try, [&](std::size_t variable) { return partial.assigned.test(variable); });
      if (to_try.empty()) return partial;
      auto best = std::tuple{std::numeric_limits<double>::infinity(), 0.0, std::size_t{0}};
      Partial chosen;
      for (const std::size_t variable : to_try) {
        Partial next = partial;
        assign(next, variable, to_compute);
        const auto key = std::tuple{width(next.assigned), bits_[variable], variable};
        if (key < best) {
          best = key;
          chosen = std::move(next);
        }
      }
      chosen.cost += std::exp2(before + bits_[std::get<2>(best)]);
      before = std::get<0>(best);
      partial = std::move(chosen);
    }
  }

  std::vector<VariableSet> scopes_;  // of the requirements
  std::vector<Equality> equalities_;
  std::vector<double> bits_;  // log2 of the domains' sizes
};

// Splits `auxiliary` variables into groups that requirements bind together.
std::vector<VariableSet> groups_of(const VariableSet& auxiliary,
                                   const std::vector<VariableSet>& scopes) {
  std::vector<VariableSet> groups;
  for (const VariableSet& scope : scopes) {
    VariableSet merged = scope & auxiliary;
    if (merged.none()) continue;
    std::erase_if(groups, [&](const VariableSet& group) {
      if ((group & merged).none()) return false;
      merged |= group;
      return true;
    });
    groups.push_back(merged);
  }
  return groups;
}

void drop_used(std::vector<TermId>& requirements, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (step.solved) std::erase(requirements, *step.solved);
  }
}

}  // namespace

Order order_variables(const TermGraph& graph, std::span<const TermId> requirements,
                      std::span<const Domain> domains, const std::vector<bool>& is_knob,
                      std::span<const std::size_t> variables) {
  const Ordering ordering(graph, requirements, domains);
  std::vector<std::size_t> knobs;
  VariableSet all;
  for (const std::size_t variable : variables) {
    all.set(variable);
    if (is_knob[variable]) knobs.push_back(variable);
  }
  Order order;
  order.steps = ordering.steps({}, knobs, all);
  order.requirements.assign(requirements.begin(), requirements.end());
  drop_used(order.requirements, order.steps);

  VariableSet assigned;
  for (const Step& step : order.steps) assigned.set(step.variable);
  std::vector<VariableSet> scopes;
  for (const TermId requirement : order.requirements) {
    scopes.push_back(graph[requirement].variables);
  }
  for (const VariableSet& group : groups_of(all & ~assigned, scopes)) {
    Existence existence;
    std::erase_if(order.requirements, [&](TermId requirement) {
      if ((graph[requirement].variables & group).none()) return false;
      existence.requirements.push_back(requirement);
      return true;
    });
    const Ordering inner(graph, existence.requirements, domains);
    existence.steps = inner.steps(~group, indices(group), group);
    drop_used(existence.requirements, existence.steps);
    order.existences.push_back(std::move(existence));
  }
  return order;
}

}  // namespace hone::space
