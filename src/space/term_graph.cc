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

bool gives_boolean(TermKind kind) {
  switch (kind) {
    case TermKind::kEqual:
    case TermKind::kNotEqual:
    case TermKind::kLess:
    case TermKind::kLessEqual:
    case TermKind::kAnd:
    case TermKind::kOr:
      return true;
    default:
      return false;
  }
}

TermKind kind_of(Operation operation) {
  switch (operation) {
    case Operation::kDivide:
      return TermKind::kDivide;
    case Operation::kModulo:
      return TermKind::kModulo;
    case Operation::kMinimum:
      return TermKind::kMinimum;
    case Operation::kMaximum:
      return TermKind::kMaximum;
    case Operation::kEqual:
      return TermKind::kEqual;
    case Operation::kNotEqual:
      return TermKind::kNotEqual;
    case Operation::kLess:
      return TermKind::kLess;
    default:
      return TermKind::kLessEqual;
  }
}

// More clauses than this are not made of one disjunction.
constexpr std::size_t kMaximumClauses = 16;

}  // namespace

Value apply(TermKind kind, Value a, Value b) {
  switch (kind) {
    case TermKind::kSum:
      return add(a, b);
    case TermKind::kProduct:
      return multiply(a, b);
    case TermKind::kDivide:
      return divide(a, b);
    case TermKind::kModulo:
      return modulo(a, b);
    case TermKind::kExactDivide:
      return exact_divide(a, b);
    case TermKind::kMinimum:
      return minimum(a, b);
    case TermKind::kMaximum:
      return maximum(a, b);
    case TermKind::kEqual:
      return equal(a, b);
    case TermKind::kNotEqual:
      return not_equal(a, b);
    case TermKind::kLess:
      return less(a, b);
    case TermKind::kLessEqual:
      return less_equal(a, b);
    case TermKind::kAnd:
      return logical_and(a, b);
    case TermKind::kOr:
      return logical_or(a, b);
    default:
      return kUndefined;
  }
}

Value LookupTable::find(Value key) const {
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), key,
      [](const std::pair<Value, Value>& entry, Value wanted) { return entry.first < wanted; });
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
  term.kind = TermKind::kVariable;
  term.value = static_cast<Value>(index);
  term.variables.set(index);
  return intern(std::move(term));
}

TermId TermGraph::sum(std::span<const TermId> operands) {
  Term term;
  term.kind = TermKind::kSum;
  Value folded = 0;
  const auto take = [&](TermId operand) {
    if (is_constant(operand)) {
      folded = space::add(folded, terms_[operand].value);
    } else {
      term.operands.push_back(operand);
    }
  };
  for (const TermId operand : operands) {
    if (terms_[operand].kind == TermKind::kSum) {
      for (const TermId inner : terms_[operand].operands) take(inner);
    } else {
      take(operand);
    }
  }
  if (folded == kUndefined || term.operands.empty()) return constant(folded);
  if (folded != 0) term.operands.push_back(constant(folded));
  if (term.operands.size() == 1 && !terms_[term.operands[0]].boolean) return term.operands[0];
  if (term.operands.size() == 1) term.operands.push_back(constant(0));
  std::sort(term.operands.begin(), term.operands.end());
  return intern(std::move(term));
}

TermId TermGraph::product(std::span<const TermId> operands) {
  Term term;
  term.kind = TermKind::kProduct;
  Value folded = 1;
  bool total = true;
  const auto take = [&](TermId operand) {
    total = total && terms_[operand].total;
    if (is_constant(operand)) {
      folded = multiply(folded, terms_[operand].value);
    } else {
      term.operands.push_back(operand);
    }
  };
  for (const TermId operand : operands) {
    if (terms_[operand].kind == TermKind::kProduct) {
      for (const TermId inner : terms_[operand].operands) take(inner);
    } else {
      take(operand);
    }
  }
  if (folded == kUndefined || term.operands.empty() || (folded == 0 && total)) {
    return constant(folded);
  }
  if (folded == -1 && term.operands.size() == 1 &&
      terms_[term.operands[0]].kind == TermKind::kSum) {
    std::vector<TermId> negated;
    for (const TermId inner : std::vector<TermId>(terms_[term.operands[0]].operands)) {
      const TermId minus_one = constant(-1);
      negated.push_back(product(std::vector<TermId>{minus_one, inner}));
    }
    return sum(negated);
  }
  if (folded != 1) term.operands.push_back(constant(folded));
  if (term.operands.size() == 1 && !terms_[term.operands[0]].boolean) return term.operands[0];
  if (term.operands.size() == 1) term.operands.push_back(constant(1));
  std::sort(term.operands.begin(), term.operands.end());
  return intern(std::move(term));
}

TermId TermGraph::difference(TermId a, TermId b) {
  const TermId minus_one = constant(-1);
  const TermId negated = product(std::vector<TermId>{minus_one, b});
  return sum(std::vector<TermId>{a, negated});
}

TermId TermGraph::binary(TermKind kind, TermId a, TermId b) {
  const bool boolean = gives_boolean(kind);
  if (is_constant(a) && is_constant(b)) {
    return constant(apply(kind, terms_[a].value, terms_[b].value), boolean);
  }
  const bool symmetric = kind == TermKind::kEqual || kind == TermKind::kNotEqual ||
                         kind == TermKind::kMinimum || kind == TermKind::kMaximum;
  if (symmetric && a > b) std::swap(a, b);
  if ((kind == TermKind::kDivide || kind == TermKind::kExactDivide) && is_constant(b, 1) &&
      !terms_[a].boolean) {
    return a;
  }
  Term term;
  term.kind = kind;
  term.boolean = boolean;
  const bool divides =
      kind == TermKind::kDivide || kind == TermKind::kModulo || kind == TermKind::kExactDivide;
  if (divides) {
    term.total = kind != TermKind::kExactDivide && is_constant(b) && !is_constant(b, 0);
  }
  term.operands = {a, b};
  return intern(std::move(term));
}

TermId TermGraph::logical(TermKind kind, std::span<const TermId> operands) {
  // The value that decides the whole, and the one that changes nothing.
  const Value deciding = kind == TermKind::kAnd ? 0 : 1;
  Term term;
  term.kind = kind;
  term.boolean = true;
  bool decided = false;
  const auto take = [&](TermId operand) {
    if (is_constant(operand, deciding)) decided = true;
    if (!is_constant(operand, 1 - deciding)) term.operands.push_back(operand);
  };
  for (const TermId given : operands) {
    const TermId operand = as_boolean(given);
    if (terms_[operand].kind == kind) {
      for (const TermId inner : terms_[operand].operands) take(inner);
    } else {
      take(operand);
    }
  }
  if (decided) return constant(deciding, true);
  std::sort(term.operands.begin(), term.operands.end());
  term.operands.erase(std::unique(term.operands.begin(), term.operands.end()), term.operands.end());
  if (term.operands.empty()) return constant(1 - deciding, true);
  if (term.operands.size() == 1) return term.operands[0];
  return intern(std::move(term));
}

TermId TermGraph::as_boolean(TermId term) {
  if (terms_[term].boolean) return term;
  if (is_constant(term)) return constant(truth(terms_[term].value), true);
  return binary(TermKind::kNotEqual, term, constant(0));
}

TermId TermGraph::negation(TermId boolean) {
  const TermId operand = as_boolean(boolean);
  const Term term = terms_[operand];
  switch (term.kind) {
    case TermKind::kConstant:
      return constant(logical_not(term.value), true);
    case TermKind::kEqual:
      return binary(TermKind::kNotEqual, term.operands[0], term.operands[1]);
    case TermKind::kNotEqual:
      return binary(TermKind::kEqual, term.operands[0], term.operands[1]);
    case TermKind::kLess:
      return binary(TermKind::kLessEqual, term.operands[1], term.operands[0]);
    case TermKind::kLessEqual:
      return binary(TermKind::kLess, term.operands[1], term.operands[0]);
    case TermKind::kAnd:
    case TermKind::kOr: {
      std::vector<TermId> negated;
      for (const TermId inner : term.operands) negated.push_back(negation(inner));
      return logical(term.kind == TermKind::kAnd ? TermKind::kOr : TermKind::kAnd, negated);
    }
    default:
      return binary(TermKind::kEqual, operand, constant(0));
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
  term.kind = TermKind::kIfThenElse;
  term.boolean = terms_[then].boolean && terms_[otherwise].boolean;
  term.operands = {condition, then, otherwise};
  return intern(std::move(term));
}

TermId TermGraph::lookup(TermId key, LookupTable table) {
  if (is_constant(key)) return constant(table.find(terms_[key].value));
  const auto known = std::find(tables_.begin(), tables_.end(), table);
  Term term;
  term.kind = TermKind::kLookup;
  term.total = false;
  term.value = known - tables_.begin();
  if (known == tables_.end()) tables_.push_back(std::move(table));
  term.operands = {key};
  return intern(std::move(term));
}

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
    case Operation::kAdd:
      term = sum(operands);
      break;
    case Operation::kSubtract:
      term = operands[0];
      for (std::size_t i = 1; i < operands.size(); ++i) term = difference(term, operands[i]);
      break;
    case Operation::kMultiply:
      term = product(operands);
      break;
    case Operation::kAnd:
      term = logical(TermKind::kAnd, operands);
      break;
    case Operation::kOr:
      term = logical(TermKind::kOr, operands);
      break;
    case Operation::kNot:
      term = negation(operands[0]);
      break;
    case Operation::kIfThenElse:
      term = if_then_else(operands[0], operands[1], operands[2]);
      break;
    case Operation::kLookup: {
      LookupTable table;
      for (std::size_t i = 0; i < expression.lookup_keys().size(); ++i) {
        table.entries.emplace_back(expression.lookup_keys()[i], expression.lookup_values()[i]);
      }
      const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
      const auto same_key = [](const auto& a, const auto& b) { return a.first == b.first; };
      std::stable_sort(table.entries.begin(), table.entries.end(), by_key);
      table.entries.erase(std::unique(table.entries.begin(), table.entries.end(), same_key),
                          table.entries.end());
      term = lookup(operands[0], std::move(table));
      break;
    }
    default:
      term = operands[0];
      for (std::size_t i = 1; i < operands.size(); ++i) {
        term = binary(kind_of(expression.operation()), term, operands[i]);
      }
      break;
  }
  done.emplace(expression.node_address(), term);
  return term;
}

TermId TermGraph::add(const TermGraph& other, TermId term, std::span<const TermId> replacements) {
  const Term& shape = other[term];
  if (shape.kind == TermKind::kConstant) return constant(shape.value, shape.boolean);
  if (shape.kind == TermKind::kVariable) return replacements[static_cast<std::size_t>(shape.value)];
  std::vector<TermId> operands;
  for (const TermId operand : shape.operands) {
    operands.push_back(add(other, operand, replacements));
  }
  return rebuild(shape, std::move(operands), other);
}

TermId TermGraph::rebuild(const Term& shape, std::vector<TermId> operands, const TermGraph& other) {
  switch (shape.kind) {
    case TermKind::kSum:
      return sum(operands);
    case TermKind::kProduct:
      return product(operands);
    case TermKind::kAnd:
    case TermKind::kOr:
      return logical(shape.kind, operands);
    case TermKind::kIfThenElse:
      return if_then_else(operands[0], operands[1], operands[2]);
    case TermKind::kLookup:
      return lookup(operands[0], other.table(shape.value));
    default:
      return binary(shape.kind, operands[0], operands[1]);
  }
}

void TermGraph::split_requirement(TermId boolean, std::vector<TermId>& requirements) {
  const TermId requirement = as_boolean(boolean);
  const Term term = terms_[requirement];
  if (term.kind == TermKind::kAnd) {
    for (const TermId operand : term.operands) split_requirement(operand, requirements);
    return;
  }
  if (term.kind == TermKind::kIfThenElse && terms_[term.operands[0]].total) {
    const TermId not_condition = negation(term.operands[0]);
    split_requirement(logical(TermKind::kOr, std::vector<TermId>{not_condition, term.operands[1]}),
                      requirements);
    split_requirement(
        logical(TermKind::kOr, std::vector<TermId>{term.operands[0], term.operands[2]}),
        requirements);
    return;
  }
  if (term.kind == TermKind::kOr) {
    std::size_t clauses = 1;
    for (const TermId operand : term.operands) {
      if (terms_[operand].kind == TermKind::kAnd) clauses *= terms_[operand].operands.size();
      clauses = std::min(clauses, kMaximumClauses + 1);
    }
    if (clauses > 1 && clauses <= kMaximumClauses) {
      const auto conjunction =
          std::find_if(term.operands.begin(), term.operands.end(),
                       [this](TermId operand) { return terms_[operand].kind == TermKind::kAnd; });
      std::vector<TermId> clause = term.operands;
      const auto position = static_cast<std::size_t>(conjunction - term.operands.begin());
      for (const TermId choice : std::vector<TermId>(terms_[*conjunction].operands)) {
        clause[position] = choice;
        split_requirement(logical(TermKind::kOr, clause), requirements);
      }
      return;
    }
  }
  if (is_constant(requirement, 1)) return;
  if (std::find(requirements.begin(), requirements.end(), requirement) == requirements.end()) {
    requirements.push_back(requirement);
  }
}

Value TermGraph::evaluate(TermId id, std::span<const Value> variables) const {
  const Term& term = terms_[id];
  switch (term.kind) {
    case TermKind::kConstant:
      return term.value;
    case TermKind::kVariable:
      return variables[static_cast<std::size_t>(term.value)];
    case TermKind::kIfThenElse: {
      const Value condition = evaluate(term.operands[0], variables);
      if (condition == kUndefined) return kUndefined;
      return evaluate(term.operands[condition != 0 ? 1 : 2], variables);
    }
    case TermKind::kLookup:
      return table(term.value).find(evaluate(term.operands[0], variables));
    default: {
      Value value = evaluate(term.operands[0], variables);
      for (std::size_t i = 1; i < term.operands.size(); ++i) {
        value = apply(term.kind, value, evaluate(term.operands[i], variables));
      }
      return value;
    }
  }
}

}  // namespace hone::space
