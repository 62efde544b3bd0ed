// Bounds propagation, from the domains up to every term, and from the requirements (which must be
// true) down to the variables. The algorithm is HC4: Benhamou et al., "Revising hull and box
// consistency", 1999.
#pragma once

#include <span>
#include <vector>

#include "space/arithmetic.h"
#include "space/term_graph.h"

namespace hone::space {

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

}  // namespace hone::space
