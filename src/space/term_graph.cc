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
  term.kind = Operation::kVariable;
  term.value = static_cast<Value>(index);
  term.variables.set(index);
  return intern(std::move(term));
}

std::vector<TermId> TermGraph::flattened(Operation kind, std::span<const TermId> operands) const {
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

TermId TermGraph::folded(Operation kind, std::span<const TermId> operands) {
  const bool multiplies = kind == Operation::kMultiply;
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
      terms_[term.operands[0]].kind == Operation::kAdd) {
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

TermId TermGraph::binary(Operation kind, TermId a, TermId b) {
  const bool boolean = gives_boolean(kind);
  if (is_constant(a) && is_constant(b)) {
    return constant(apply(kind, terms_[a].value, terms_[b].value), boolean);
  }
  const bool symmetric = kind == Operation::kEqual || kind == Operation::kNotEqual ||
                         kind == Operation::kMinimum || kind == Operation::kMaximum;
  if (symmetric && a > b) std::swap(a, b);
  if ((kind == Operation::kDivide || kind == Operation::kExactDivide) && is_constant(b, 1) &&
      !terms_[a].boolean) {
    return a;
  }
  Term term;
  term.kind = kind;
  term.boolean = boolean;
  const bool divides =
      kind == Operation::kDivide || kind == Operation::kModulo || kind == Operation::kExactDivide;
  if (divides) {
    term.total = kind != Operation::kExactDivide && is_constant(b) && !is_constant(b, 0);
  }
  term.operands = {a, b};
  return intern(std::move(term));
}

TermId TermGraph::logical(Operation kind, std::span<const TermId> operands) {
  // Absorbing value of the operation; 1 - deciding is the neutral one.
  const Value deciding = kind == Operation::kAnd ? 0 : 1;
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
  return binary(Operation::kNotEqual, term, constant(0));
}

TermId TermGraph::negation(TermId boolean) {
  const TermId operand = as_boolean(boolean);
  const Term term = terms_[operand];
  switch (term.kind) {
    case Operation::kConstant:
      return constant(logical_not(term.value), true);
    case Operation::kEqual:
      return binary(Operation::kNotEqual, term.operands[0], term.operands[1]);
    case Operation::kNotEqual:
      return binary(Operation::kEqual, term.operands[0], term.operands[1]);
    case Operation::kLess:
      return binary(Operation::kLessEqual, term.operands[1], term.operands[0]);
    case Operation::kLessEqual:
      return binary(Operation::kLess, term.operands[1], term.operands[0]);
    case Operation::kAnd:
    case Operation::kOr: {
      std::vector<TermId> negated;
      for (const TermId inner : term.operands) negated.push_back(negation(inner));
      return logical(term.kind == Operation::kAnd ? Operation::kOr : Operation::kAnd, negated);
    }
    default:
      return binary(Operation::kEqual, operand, constant(0));
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
  term.kind = Operation::kIfThenElse;
  term.boolean = terms_[then].boolean && terms_[otherwise].boolean;
  term.operands = {condition, then, otherwise};
  return intern(std::move(term));
}

TermId TermGraph::lookup(TermId key, LookupTable table) {
  if (is_constant(key)) return constant(table.find(terms_[key].value));
  const auto known = std::ranges::find(tables_, table);
  Term term;
  term.kind = Operation::kLookup;
  term.total = false;
  term.value = known - tables_.begin();
  if (known == tables_.end()) tables_.push_back(std::move(table));
  term.operands = {key};
  return intern(std::move(term));
}

}  // namespace hone::space
