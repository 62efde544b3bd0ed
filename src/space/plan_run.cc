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

bool Plan::run(const Level& level, Value* s) const {
  for (const Instruction& i : level.code) {
    bool holds = true;
    switch (i.opcode) {
      case Opcode::kAdd:
        s[i.target] = add(s[i.a], s[i.b]);
        break;
      case Opcode::kMultiply:
        s[i.target] = multiply(s[i.a], s[i.b]);
        break;
      case Opcode::kDivide:
        s[i.target] = divide(s[i.a], s[i.b]);
        break;
      case Opcode::kModulo:
        s[i.target] = modulo(s[i.a], s[i.b]);
        break;
      case Opcode::kExactDivide:
        s[i.target] = exact_divide(s[i.a], s[i.b]);
        break;
      case Opcode::kMinimum:
        s[i.target] = minimum(s[i.a], s[i.b]);
        break;
      case Opcode::kMaximum:
        s[i.target] = maximum(s[i.a], s[i.b]);
        break;
      case Opcode::kEqual:
        s[i.target] = equal(s[i.a], s[i.b]);
        break;
      case Opcode::kNotEqual:
        s[i.target] = not_equal(s[i.a], s[i.b]);
        break;
      case Opcode::kLess:
        s[i.target] = less(s[i.a], s[i.b]);
        break;
      case Opcode::kLessEqual:
        s[i.target] = less_equal(s[i.a], s[i.b]);
        break;
      case Opcode::kAnd:
        s[i.target] = logical_and(s[i.a], s[i.b]);
        break;
      case Opcode::kOr:
        s[i.target] = logical_or(s[i.a], s[i.b]);
        break;
      case Opcode::kSelect:
        s[i.target] = s[i.a] == kUndefined ? kUndefined : s[s[i.a] != 0 ? i.b : i.c];
        break;
      case Opcode::kLookup:
        s[i.target] = tables[i.b].find(s[i.a]);
        break;
      case Opcode::kRequireTrue:
        holds = s[i.a] == 1;
        break;
      case Opcode::kRequireEqual:
        holds = equal(s[i.a], s[i.b]) == 1;
        break;
      case Opcode::kRequireNotEqual:
        holds = not_equal(s[i.a], s[i.b]) == 1;
        break;
      case Opcode::kRequireLess:
        holds = less(s[i.a], s[i.b]) == 1;
        break;
      case Opcode::kRequireLessEqual:
        holds = less_equal(s[i.a], s[i.b]) == 1;
        break;
      case Opcode::kRequireMultiple:
        holds = modulo(s[i.a], s[i.b]) == 0;
        break;
      case Opcode::kRequireMember: {
        const Domain& domain = domains[i.b];
        holds = domain.interval.contains(s[i.a]) &&
                (!domain.listed ||
                 std::binary_search(domain.values.begin(), domain.values.end(), s[i.a]));
        break;
      }
      case Opcode::kRequireExistence:
        holds = has_solution(existences[i.a], 0, s);
        break;
    }
    if (!holds) return false;
  }
  return true;
}

}  // namespace hone::space
