// Order in which enumeration assigns the variables.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "space/narrow.h"
#include "space/term_graph.h"

namespace hone::space {

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
