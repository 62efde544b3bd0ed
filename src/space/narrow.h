// Narrows domains before enumeration: by bounds, divisors, and tests over one or two variables.
#pragma once

#include <span>
#include <vector>

#include "space/arithmetic.h"
#include "space/term_graph.h"

namespace hone::space {

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
