// Narrows domains before enumeration: by bounds, divisors, and tests over one or two variables.
#pragma once

#include <span>
#include <vector>

#include "space/arithmetic.h"
#include "space/term_graph.h"

namespace hone::space {

// Bounds propagation, from the domains up to every term, and from the requirements (which must be
// true) down to the variables. The algorithm is HC4: Benhamou et al., "Revising hull and box
// consistency", 1999.
class Bounds {
 public:
  // `variables`: the interval of each variable; `graph` and `requirements` outlive this object.
  Bounds(const TermGraph& graph, std::span<const TermId> requirements,
         std::vector<ValueInterval> variables);

  // Tightens to a fixed point (or kMaximumRounds). False when no values satisfy the requirements.
  bool tighten();

  // The interval of each variable that the requirements leave.
  const std::vector<ValueInterval>& variables() const { return variables_; }
  // Interval of `term` that the requirements leave. `term` must be older than this object.
  ValueInterval of(TermId term) const { return intervals_[term]; }

 private:
  static constexpr int kMaximumRounds = 40;

  void backward(TermId id);
  // Requires `term` to be defined and in `interval`.
  void demand(TermId term, ValueInterval interval);
  void backward_sum(const Term& term, ValueInterval own);
  void backward_product(const Term& term, ValueInterval own);
  void backward_division(const Term& term, ValueInterval own);
  void backward_comparison(Operator kind, TermId a, TermId b);
  void backward_logical(const Term& term, ValueInterval own);
  void backward_choice(const Term& term, ValueInterval own);
  void backward_lookup(const Term& term, ValueInterval own);

  const TermGraph& graph_;
  std::span<const TermId> requirements_;
  std::vector<ValueInterval> variables_;
  std::vector<ValueInterval> intervals_;  // by term
  std::vector<char> demanded_;            // by term: defined in every solution
  bool changed_ = false;
};

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
