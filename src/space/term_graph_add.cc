// Converts expressions to terms, and terms to requirements.
#include <algorithm>
#include <utility>

#include "space/arithmetic.h"
#include "space/term_graph.h"

namespace hone::space {
namespace {

// Limit of the clauses made of one disjunction.
constexpr std::size_t kMaximumClauses = 16;

}  // namespace

TermId TermGraph::add(const Expression& expression, std::span<const TermId> replacements) {
  std::unordered_map<const void*, TermId> done;
  return add_node(expression, replacements, done);
}

TermId TermGraph::add_node(const Expression& expression, std::span<const TermId> replacements,
                           std::unordered_map<const void*, TermId>& done) {
  const auto known = done.find(expression.node_address());
  if (known != done.end()) return known->second;
  std::vector<TermId> operands;
  for (const Expression& operand : expression.operands()) {
    operands.push_back(add_node(operand, replacements, done));
  }
  TermId term = 0;
  switch (expression.operation()) {
    case Operation::kConstant:
      term = constant(expression.constant_value(), expression.is_boolean());
      break;
    case Operation::kVariable:
      term = replacements[expression.variable_index()];
      break;
    case Operation::kLookup: {
      LookupTable table;
      for (std::size_t i = 0; i < expression.lookup_keys().size(); ++i) {
        table.entries.emplace_back(expression.lookup_keys()[i], expression.lookup_values()[i]);
      }
      const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
      const auto same_key = [](const auto& a, const auto& b) { return a.first == b.first; };
      std::ranges::stable_sort(table.entries, by_key);
      table.entries.erase(std::unique(table.entries.begin(), table.entries.end(), same_key),
                          table.entries.end());
      term = lookup(operands[0], std::move(table));
      break;
    }
    default:
      term = make(expression.operation(), operands);
      break;
  }
  done.emplace(expression.node_address(), term);
  return term;
}

TermId TermGraph::add(const TermGraph& other, TermId term, std::span<const TermId> replacements) {
  const Term& shape = other[term];
  if (shape.kind == Operation::kConstant) return constant(shape.value, shape.boolean);
  if (shape.kind == Operation::kVariable)
    return replacements[static_cast<std::size_t>(shape.value)];
  std::vector<TermId> operands;
  for (const TermId operand : shape.operands) {
    operands.push_back(add(other, operand, replacements));
  }
  if (shape.kind == Operation::kLookup) return lookup(operands[0], other.table(shape.value));
  return make(shape.kind, operands);
}

TermId TermGraph::make(Operation kind, std::span<const TermId> operands) {
  switch (kind) {
    case Operation::kAdd:
      return sum(operands);
    case Operation::kMultiply:
      return product(operands);
    case Operation::kAnd:
    case Operation::kOr:
      return logical(kind, operands);
    case Operation::kNot:
      return negation(operands[0]);
    case Operation::kIfThenElse:
      return if_then_else(operands[0], operands[1], operands[2]);
    default: {
      TermId term = operands[0];
      for (const TermId operand : operands.subspan(1))
        term =
            kind == Operation::kSubtract ? difference(term, operand) : binary(kind, term, operand);
      return term;
    }
  }
}

void TermGraph::split_requirement(TermId boolean, std::vector<TermId>& requirements) {
  const TermId requirement = as_boolean(boolean);
  const Term term = terms_[requirement];
  if (term.kind == Operation::kAnd) {
    for (const TermId operand : term.operands) split_requirement(operand, requirements);
    return;
  }
  if (term.kind == Operation::kIfThenElse && terms_[term.operands[0]].total) {
    const TermId not_condition = negation(term.operands[0]);
    split_requirement(logical(Operation::kOr, std::vector<TermId>{not_condition, term.operands[1]}),
                      requirements);
    split_requirement(
        logical(Operation::kOr, std::vector<TermId>{term.operands[0], term.operands[2]}),
        requirements);
    return;
  }
  if (term.kind == Operation::kOr) {
    std::size_t clauses = 1;
    for (const TermId operand : term.operands) {
      if (terms_[operand].kind == Operation::kAnd) clauses *= terms_[operand].operands.size();
      clauses = std::min(clauses, kMaximumClauses + 1);
    }
    if (clauses > 1 && clauses <= kMaximumClauses) {
      const auto conjunction = std::ranges::find_if(term.operands, [this](TermId operand) {
        return terms_[operand].kind == Operation::kAnd;
      });
      std::vector<TermId> clause = term.operands;
      const auto position = static_cast<std::size_t>(conjunction - term.operands.begin());
      for (const TermId choice : std::vector<TermId>(terms_[*conjunction].operands)) {
        clause[position] = choice;
        split_requirement(logical(Operation::kOr, clause), requirements);
      }
      return;
    }
  }
  if (is_constant(requirement, 1)) return;
  if (std::ranges::find(requirements, requirement) == requirements.end()) {
    requirements.push_back(requirement);
  }
}

Value TermGraph::evaluate(TermId id, std::span<const Value> variables) const {
  const Term& term = terms_[id];
  switch (term.kind) {
    case Operation::kConstant:
      return term.value;
    case Operation::kVariable:
      return variables[static_cast<std::size_t>(term.value)];
    case Operation::kIfThenElse: {
      const Value condition = evaluate(term.operands[0], variables);
      if (condition == kUndefined) return kUndefined;
      return evaluate(term.operands[condition != 0 ? 1 : 2], variables);
    }
    case Operation::kLookup:
      return table(term.value).find(evaluate(term.operands[0], variables));
    default:
      return fold(term.kind, term.operands,
                  [&](TermId operand) { return evaluate(operand, variables); });
  }
}

}  // namespace hone::space
