// The order in which enumeration gives values to variables.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "space/narrow.h"
#include "space/term_graph.h"

namespace hone::space {

// A variable that gets its value next: tried from its domain, or computed from those before it.
struct Step {
  std::size_t variable = 0;
  std::optional<TermId> solved;  // the equality it is computed from
};

// Auxiliary variables that no equality computes: some values of them must exist. They are bound
// to each other by requirements; the other variables of `requirements` are known by then.
struct Existence {
  std::vector<Step> steps;
  std::vector<TermId> requirements;  // those not used up by `steps`
};

struct Order {
  std::vector<Step> steps;
  std::vector<TermId> requirements;  // those not used up by `steps` or over `existences`
  std::vector<Existence> existences;
};

// Chooses an order that keeps small what the rest of the search depends on. `is_knob[i]`: variable
// i is a knob (the others are auxiliary). All requirements have variables; the outcome depends on
// the arguments alone.
Order order_variables(const TermGraph& graph, std::span<const TermId> requirements,
                      std::span<const Domain> domains, const std::vector<bool>& is_knob,
                      std::span<const std::size_t> variables);

}  // namespace hone::space
