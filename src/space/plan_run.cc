// The interpreter of a plan's code.
#include <algorithm>

#include "space/arithmetic.h"
#include "space/plan.h"

namespace hone::space {

bool Plan::has_solution(const std::vector<Level>& inner, std::size_t depth, Value* values) const {
  if (depth == inner.size()) return true;
  const Level& level = inner[depth];
  for (const Value value : level.values) {
    values[level.slot] = value;
    if (run(level, values) && has_solution(inner, depth + 1, values)) return true;
  }
  return false;
}

inline Value Plan::value_of(const Instruction& i, const Value* s) const {
  switch (i.operation) {
    case Operation::kConstant:
      return 0;
    case Operation::kVariable:
      return s[i.a];
    case Operation::kIfThenElse:
      return s[i.a] == kUndefined ? kUndefined : s[s[i.a] != 0 ? i.b : i.c];
    case Operation::kLookup:
      return tables[i.b].find(s[i.a]);
    default:
      return apply(i.operation, s[i.a], s[i.b]);
  }
}

bool Plan::run(const Level& level, Value* s) const {
  for (const Instruction& i : level.code) {
    const Value value = value_of(i, s);
    bool holds = true;
    switch (i.test) {
      case Test::kNone:
        s[i.target] = value;
        break;
      case Test::kTrue:
        holds = value == 1;
        break;
      case Test::kZero:
        holds = value == 0;
        break;
      case Test::kMember: {
        const Domain& domain = domains[i.b];
        holds = domain.interval.contains(value) &&
                (!domain.listed || std::ranges::binary_search(domain.values, value));
        break;
      }
      case Test::kExistence:
        holds = has_solution(existences[i.b], 0, s);
        break;
    }
    if (!holds) return false;
  }
  return true;
}

}  // namespace hone::space
