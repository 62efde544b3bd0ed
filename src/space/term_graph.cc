#include "space/term_graph.h"

#include <algorithm>
#include <utility>

#include "space/arithmetic.h"

namespace hone::space {
namespace {

std::uint64_t hash_of(const Term& term) {
  std::uint64_t hash = static_cast<std::uint64_t>(term.kind) * 0x9E3779B97F4A7C15u;
  const auto mix = [&hash](std::uint64_t part) {
    hash = (hash ^ part) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  };
  mix(static_cast<std::uint64_t>(term.value));
  mix(term.boolean);
  for (const TermId operand : term.operands) mix(operand);
  return hash;
}

}  // namespace

Value LookupTable::find(Value key) const {
  const auto found = std::ranges::lower_bound(entries, key, {}, &std::pair<Value, Value>::first);
  return found != entries.end() && found->first == key ? found->second : kUndefined;
}

TermId TermGraph::intern(Term term) {
  const std::uint64_t hash = hash_of(term);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Term& known = terms_[it->second];
    if (known.kind == term.kind && known.value == term.value && known.boolean == term.boolean &&
        known.operands == term.operands) {
      return it->second;
    }
  }
  for (const TermId operand : term.operands) {
    term.variables |= terms_[operand].variables;
    term.total = term.total && terms_[operand].total;
  }
  const auto id = static_cast<TermId>(terms_.size());
  terms_.push_back(std::move(term));
  by_hash_.emplace(hash, id);
  return id;
}

TermId TermGraph::constant(Value value, bool boolean) {
  Term term;
  term.value = value;
  term.boolean = boolean;
  term.total = value != kUndefined;
  return intern(std::move(term));
}

TermId TermGraph::variable(std::size_t index) {
  Term term;
  term.kind = Operator::kVariable;
  term.value = static_cast<Value>(index);
  term.variables.set(index);
  return intern(std::move(term));
}

std::vector<TermId> TermGraph::flattened(Operator kind, std::span<const TermId> operands) const {
  std::vector<TermId> flat;
  for (const TermId operand : operands) {
    const Term& term = terms_[operand];
    if (term.kind == kind)
      flat.insert(flat.end(), term.operands.begin(), term.operands.end());
    else
      flat.push_back(operand);
  }
  return flat;
}

TermId TermGraph::folded(Operator kind, std::span<const TermId> operands) {
  const bool multiplies = kind == Operator::kMultiply;
  const Value neutral = multiplies ? 1 : 0;
  Term term;
  term.kind = kind;
  Value value = neutral;  // of the constants
  bool total = true;
  for (const TermId operand : flattened(kind, operands)) {
    total = total && terms_[operand].total;
    if (is_constant(operand)) {
      value = apply(kind, value, terms_[operand].value);
    } else {
      term.operands.push_back(operand);
    }
  }
  const bool annihilates = multiplies && value == 0 && total;
  if (value == kUndefined || term.operands.empty() || annihilates) return constant(value);
  if (multiplies && value == -1 && term.operands.size() == 1 &&
      terms_[term.operands[0]].kind == Operator::kAdd) {
    std::vector<TermId> negated;
    for (const TermId inner : std::vector<TermId>(terms_[term.operands[0]].operands))
      negated.push_back(negative(inner));
    return sum(negated);
  }
  if (value != neutral) term.operands.push_back(constant(value));
  if (term.operands.size() == 1 && !terms_[term.operands[0]].boolean) return term.operands[0];
  if (term.operands.size() == 1) term.operands.push_back(constant(neutral));
  std::ranges::sort(term.operands);
  return intern(std::move(term));
}

TermId TermGraph::difference(TermId a, TermId b) {
  return sum(std::vector{a, negative(b)});
}

TermId TermGraph::negative(TermId term) {
  return product(std::vector{constant(-1), term});
}

TermId TermGraph::binary(Operator kind, TermId a, TermId b) {
  const bool boolean = gives_boolean(kind);
  if (is_constant(a) && is_constant(b)) {
    return constant(apply(kind, terms_[a].value, terms_[b].value), boolean);
  }
  const bool symmetric = kind == Operator::kEqual || kind == Operator::kNotEqual ||
                         kind == Operator::kMinimum || kind == Operator::kMaximum;
  if (symmetric && a > b) std::swap(a, b);
  if ((kind == Operator::kDivide || kind == Operator::kExactDivide) && is_constant(b, 1) &&
      !terms_[a].boolean) {
    return a;
  }
  Term term;
  term.kind = kind;
  term.boolean = boolean;
  const bool divides =
      kind == Operator::kDivide || kind == Operator::kModulo || kind == Operator::kExactDivide;
  if (divides) {
    term.total = kind != Operator::kExactDivide && is_constant(b) && !is_constant(b, 0);
  }
  term.operands = {a, b};
  return intern(std::move(term));
}

TermId TermGraph::logical(Operator kind, std::span<const TermId> operands) {
  // Absorbing value of the operation; 1 - deciding is the neutral one.
  const Value deciding = kind == Operator::kAnd ? 0 : 1;
  Term term;
  term.kind = kind;
  term.boolean = true;
  bool decided = false;
  std::vector<TermId> booleans;
  for (const TermId operand : operands) booleans.push_back(as_boolean(operand));
  for (const TermId operand : flattened(kind, booleans)) {
    if (is_constant(operand, deciding)) decided = true;
    if (!is_constant(operand, 1 - deciding)) term.operands.push_back(operand);
  }
  if (decided) return constant(deciding, true);
  std::ranges::sort(term.operands);
  term.operands.erase(std::unique(term.operands.begin(), term.operands.end()), term.operands.end());
  if (term.operands.empty()) return constant(1 - deciding, true);
  if (term.operands.size() == 1) return term.operands[0];
  return intern(std::move(term));
}

TermId TermGraph::as_boolean(TermId term) {
  if (terms_[term].boolean) return term;
  if (is_constant(term)) return constant(truth(terms_[term].value), true);
  return binary(Operator::kNotEqual, term, constant(0));
}

TermId TermGraph::negation(TermId boolean) {
  const TermId operand = as_boolean(boolean);
  const Term term = terms_[operand];
  switch (term.kind) {
    case Operator::kConstant:
      return constant(logical_not(term.value), true);
    case Operator::kEqual:
      return binary(Operator::kNotEqual, term.operands[0], term.operands[1]);
    case Operator::kNotEqual:
      return binary(Operator::kEqual, term.operands[0], term.operands[1]);
    case Operator::kLess:
      return binary(Operator::kLessEqual, term.operands[1], term.operands[0]);
    case Operator::kLessEqual:
      return binary(Operator::kLess, term.operands[1], term.operands[0]);
    case Operator::kAnd:
    case Operator::kOr: {
      std::vector<TermId> negated;
      for (const TermId inner : term.operands) negated.push_back(negation(inner));
      return logical(term.kind == Operator::kAnd ? Operator::kOr : Operator::kAnd, negated);
    }
    default:
      return binary(Operator::kEqual, operand, constant(0));
  }
}

TermId TermGraph::if_then_else(TermId condition, TermId then, TermId otherwise) {
  condition = as_boolean(condition);
  if (is_constant(condition)) {
    if (terms_[condition].value == kUndefined) return condition;
    return terms_[condition].value != 0 ? then : otherwise;
  }
  if (then == otherwise && terms_[condition].total) return then;
  Term term;
  term.kind = Operator::kIfThenElse;
  term.boolean = terms_[then].boolean && terms_[otherwise].boolean;
  term.operands = {condition, then, otherwise};
  return intern(std::move(term));
}

TermId TermGraph::lookup(TermId key, LookupTable table) {
  if (is_constant(key)) return constant(table.find(terms_[key].value));
  const auto known = std::ranges::find(tables_, table);
  Term term;
  term.kind = Operator::kLookup;
  term.total = false;
  term.value = known - tables_.begin();
  if (known == tables_.end()) tables_.push_back(std::move(table));
  term.operands = {key};
  return intern(std::move(term));
}

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
    case Operator::kConstant:
      term = constant(expression.constant_value(), expression.is_boolean());
      break;
    case Operator::kVariable:
      term = replacements[expression.variable_index()];
      break;
    case Operator::kLookup: {
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
  if (shape.kind == Operator::kConstant) return constant(shape.value, shape.boolean);
  if (shape.kind == Operator::kVariable) return replacements[static_cast<std::size_t>(shape.value)];
  std::vector<TermId> operands;
  for (const TermId operand : shape.operands) {
    operands.push_back(add(other, operand, replacements));
  }
  if (shape.kind == Operator::kLookup) return lookup(operands[0], other.table(shape.value));
  return make(shape.kind, operands);
}

TermId TermGraph::make(Operator kind, std::span<const TermId> operands) {
  switch (kind) {
    case Operator::kAdd:
      return sum(operands);
    case Operator::kMultiply:
      return product(operands);
    case Operator::kAnd:
    case Operator::kOr:
      return logical(kind, operands);
    case Operator::kNot:
      return negation(operands[0]);
    case Operator::kIfThenElse:
      return if_then_else(operands[0], operands[1], operands[2]);
    default: {
      TermId term = operands[0];
      for (const TermId operand : operands.subspan(1))
        term =
            kind == Operator::kSubtract ? difference(term, operand) : binary(kind, term, operand);
      return term;
    }
  }
}

void TermGraph::split_requirement(TermId boolean, std::vector<TermId>& requirements) {
  const TermId requirement = as_boolean(boolean);
  const Term term = terms_[requirement];
  if (term.kind == Operator::kAnd) {
    for (const TermId operand : term.operands) split_requirement(operand, requirements);
    return;
  }
  if (term.kind == Operator::kIfThenElse && terms_[term.operands[0]].total) {
    const TermId not_condition = negation(term.operands[0]);
    split_requirement(logical(Operator::kOr, std::vector<TermId>{not_condition, term.operands[1]}),
                      requirements);
    split_requirement(
        logical(Operator::kOr, std::vector<TermId>{term.operands[0], term.operands[2]}),
        requirements);
    return;
  }
  if (term.kind == Operator::kOr) {
    std::size_t clauses = 1;
    for (const TermId operand : term.operands) {
      if (terms_[operand].kind == Operator::kAnd) clauses *= terms_[operand].operands.size();
      clauses = std::min(clauses, kMaximumClauses + 1);
    }
    if (clauses > 1 && clauses <= kMaximumClauses) {
      const auto conjunction = std::ranges::find_if(
          term.operands, [this](TermId operand) { return terms_[operand].kind == Operator::kAnd; });
      std::vector<TermId> clause = term.operands;
      const auto position = static_cast<std::size_t>(conjunction - term.operands.begin());
      for (const TermId choice : std::vector<TermId>(terms_[*conjunction].operands)) {
        clause[position] = choice;
        split_requirement(logical(Operator::kOr, clause), requirements);
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
    case Operator::kConstant:
      return term.value;
    case Operator::kVariable:
      return variables[static_cast<std::size_t>(term.value)];
    case Operator::kIfThenElse: {
      const Value condition = evaluate(term.operands[0], variables);
      if (condition == kUndefined) return kUndefined;
      return evaluate(term.operands[condition != 0 ? 1 : 2], variables);
    }
    case Operator::kLookup:
      return table(term.value).find(evaluate(term.operands[0], variables));
    default:
      return fold(term.kind, term.operands,
                  [&](TermId operand) { return evaluate(operand, variables); });
  }
}

}  // namespace hone::space
