// Narrows domains before enumeration: by bounds, divisors, and tests over one or two variables.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "space/arithmetic.h"
#include "space/term_graph.h"

namespace hone::space {

// Returns the interval of each variable that the requirements leave; none if no values satisfy
// them. `variables`: the intervals before. Propagates bounds from the domains up to every term, and
// from the requirements (which must be true) down to the variables, to a fixed point or for a
// number of rounds. The algorithm is HC4: Benhamou et al., "Revising hull and box consistency",
// 1999.
std::optional<std::vector<ValueInterval>> tightened(const TermGraph& graph,
                                                    std::span<const TermId> requirements,
                                                    std::vector<ValueInterval> variables);

// Intervals of all terms from the variables' alone, ignoring requirements.
std::vector<ValueInterval> forward_intervals(const TermGraph& graph,
                                             std::span<const ValueInterval> variables);

// Whether `term` is defined for all values of the variables, given forward_intervals().
bool is_always_defined(const TermGraph& graph, TermId term,
                       std::span<const ValueInterval> intervals);

struct Domain {
  ValueInterval interval;     // holds every value left
  bool listed = false;        // whether `values` is the domain; the whole interval otherwise
  std::vector<Value> values;  // in the stable order

  std::size_t size() const;  // saturates
  bool contains(Value value) const;
  std::vector<Value> all_values() const;  // of a range ascending
};
std::vector<ValueInterval> intervals_of(std::span<const Domain> domains);

// Requirements that remain to be tested over the narrowed domains.
struct Narrowed {
  bool feasible = true;
  std::vector<Domain> domains;
  std::vector<TermId> requirements;
};

// Drops from `domains` values that no solution has, lists the ranges that become small, and drops
// the requirements that hold for all values left.
Narrowed narrow(TermGraph& graph, std::vector<TermId> requirements, std::vector<Domain> domains);

// Lists the values of a range, filtered by the requirements over that variable alone. Ranges of
// more than `most` values stay unchanged. Returns whether the domain is a list now.
bool list_values(const TermGraph& graph, const std::vector<TermId>& requirements,
                 std::size_t variable, std::size_t most, Domain& domain);

}  // namespace hone::space
