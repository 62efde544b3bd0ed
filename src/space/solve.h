// Equalities that give one variable from others: subgroups == tile / (16 * rows).
#pragma once

#include <span>

#include "space/interval.h"
#include "space/term_graph.h"

namespace hone::space {

// Whether `requirement` is an equality with at most one solution for `variable`, for all values of
// the others. The variable must occur once, under sums and products whose other factors cannot be
// 0. `intervals`: of the terms, from forward_intervals().
bool can_solve(const TermGraph& graph, TermId requirement, std::size_t variable,
               std::span<const Interval> intervals);

// Returns the solution as a term of the other variables, undefined where there is none. The
// requirement holds exactly where the variable equals that term. Needs can_solve().
TermId solve(TermGraph& graph, TermId requirement, std::size_t variable);

}  // namespace hone::space
