#include "space/solve.h"

#include <algorithm>
#include <optional>
#include <vector>

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

}  // namespace

bool can_solve(const TermGraph& graph, TermId requirement, std::size_t variable,
               std::span<const Interval> intervals) {
  if (graph[requirement].kind != Operation::kEqual) return false;
  TermId id = requirement;
  while (graph[id].kind != Operation::kVariable) {
    const Term& term = graph[id];
    const bool invertible =
        id == requirement || term.kind == Operation::kAdd || term.kind == Operation::kMultiply;
    const auto position = only_operand_with(graph, term, variable);
    if (!invertible || !position) return false;
    if (term.kind == Operation::kMultiply) {
      for (std::size_t i = 0; i < term.operands.size(); ++i) {
        if (i != *position && intervals[term.operands[i]].contains(0)) return false;
      }
    }
    id = term.operands[*position];
  }
  return true;
}

TermId solve(TermGraph& graph, TermId requirement, std::size_t variable) {
  const std::vector<TermId> sides = graph[requirement].operands;
  const bool first = graph[sides[0]].variables.test(variable);
  TermId side = sides[first ? 0 : 1];
  TermId target = sides[first ? 1 : 0];
  while (graph[side].kind != Operation::kVariable) {
    const Term term = graph[side];
    const std::size_t position = *only_operand_with(graph, term, variable);
    std::vector<TermId> others = term.operands;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(position));
    if (term.kind == Operation::kAdd) {
      target = graph.difference(target, graph.sum(others));
    } else {
      target = graph.binary(Operation::kExactDivide, target, graph.product(others));
    }
    side = term.operands[position];
  }
  return target;
}

}  // namespace hone::space
