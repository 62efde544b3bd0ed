// Order in which enumeration assigns the variables, and equalities that give one variable from
// others (subgroups == tile / (16 * rows)).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "space/arithmetic.h"
#include "space/narrow.h"
#include "space/term_graph.h"

namespace hone::space {

// Whether `requirement` is an equality with at most one solution for `variable`, for all values of
// the others. The variable must occur once, under sums and products whose other factors cannot be
// 0. `intervals`: of the terms, from forward_intervals().
bool can_solve(const TermGraph& graph, TermId requirement, std::size_t variable,
               std::span<const ValueInterval> intervals);

// Returns the solution as a term of the other variables, undefined where there is none. The
// requirement holds exactly where the variable equals that term. Needs can_solve().
TermId solve(TermGraph& graph, TermId requirement, std::size_t variable);

// Next variable to assign: tried from its domain, or computed from earlier ones.
struct Step {
  std::size_t variable = 0;
  std::optional<TermId> solved;  // the equality it is computed from
};

// Auxiliary variables that no equality computes: some values of them must exist. Requirements bind
// them to each other; the other variables of `requirements` are already assigned.
struct Existence {
  std::vector<Step> steps;
  std::vector<TermId> requirements;  // those not used up by `steps`
};

struct Order {
  std::vector<Step> steps;
  std::vector<TermId> requirements;  // those not used up by `steps` or over `existences`
  std::vector<Existence> existences;
};

// Chooses an order in which the rest of the search depends on little. `is_knob[i]`: variable i is a
// knob (the others are auxiliary). All requirements have variables. Deterministic in the arguments.
Order order_variables(const TermGraph& graph, std::span<const TermId> requirements,
                      std::span<const Domain> domains, const std::vector<bool>& is_knob,
                      std::span<const std::size_t> variables);

}  // namespace hone::space
