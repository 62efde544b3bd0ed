// Graph of simplified terms for a space's constraints. Equal terms are one node, constants are
// folded, sums and products are flattened. Requirements are split into the smallest tests that can
// be made early.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "space/expression.h"

namespace hone::space {

using TermId = std::uint32_t;
inline constexpr std::size_t kMaximumVariables = 256;
using VariableSet = std::bitset<kMaximumVariables>;
inline std::vector<std::size_t> indices(const VariableSet& set) {
  std::vector<std::size_t> result;
  for (std::size_t i = set._Find_first(); i < set.size(); i = set._Find_next(i))
    result.push_back(i);
  return result;
}

struct Term {
  // Any operation but kSubtract and kNot. kAdd, kMultiply, kAnd and kOr have two or more operands,
  // booleans for the last two.
  Operator kind = Operator::kConstant;
  bool boolean = false;
  // Defined for all values of its variables, short of results beyond 64 bits.
  bool total = true;
  Value value = 0;  // kConstant: the constant; kVariable: its index; kLookup: its table
  std::vector<TermId> operands;
  VariableSet variables;
};

struct LookupTable {
  std::vector<std::pair<Value, Value>> entries;  // by key, ascending, keys unique

  Value find(Value key) const;  // kUndefined for a key that is not there
  bool operator==(const LookupTable&) const = default;
};

// Terms are only added; an operand's id is below its user's.
class TermGraph {
 public:
  const Term& operator[](TermId id) const { return terms_[id]; }
  std::size_t size() const { return terms_.size(); }
  const LookupTable& table(Value index) const { return tables_[static_cast<std::size_t>(index)]; }

  TermId constant(Value value, bool boolean = false);
  TermId variable(std::size_t index);
  TermId sum(std::span<const TermId> operands) { return folded(Operator::kAdd, operands); }
  TermId product(std::span<const TermId> operands) { return folded(Operator::kMultiply, operands); }
  // Adds a binary term: kDivide, kModulo, kExactDivide, kMinimum, kMaximum or a comparison.
  TermId binary(Operator kind, TermId a, TermId b);
  TermId logical(Operator kind, std::span<const TermId> operands);  // kAnd or kOr
  TermId negation(TermId boolean);
  TermId if_then_else(TermId condition, TermId then, TermId otherwise);
  TermId lookup(TermId key, LookupTable table);
  TermId difference(TermId a, TermId b);
  // Adds a term of any kind above that has only operands.
  TermId make(Operator kind, std::span<const TermId> operands);

  // Adds `expression`, with its variable i replaced by replacements[i].
  TermId add(const Expression& expression, std::span<const TermId> replacements);
  // Adds a term of another graph, with its variable i replaced by replacements[i].
  TermId add(const TermGraph& other, TermId term, std::span<const TermId> replacements);

  // Splits `boolean` into requirements that must all be true. Conjunctions are split. A disjunction
  // of a few conjunctions becomes a conjunction of disjunctions, which have fewer variables and can
  // be tested earlier.
  void split_requirement(TermId boolean, std::vector<TermId>& requirements);

  // Returns the term's value for variables[i] as variable i.
  Value evaluate(TermId term, std::span<const Value> variables) const;

  bool is_constant(TermId term) const { return terms_[term].kind == Operator::kConstant; }
  bool is_constant(TermId term, Value value) const {
    return is_constant(term) && terms_[term].value == value;
  }

 private:
  TermId intern(Term term);
  // Returns the operands, with operands of `kind` replaced by their own operands.
  std::vector<TermId> flattened(Operator kind, std::span<const TermId> operands) const;
  TermId folded(Operator kind, std::span<const TermId> operands);  // kAdd or kMultiply
  TermId negative(TermId term);
  TermId as_boolean(TermId term);
  TermId add_node(const Expression& expression, std::span<const TermId> replacements,
                  std::unordered_map<const void*, TermId>& done);

  std::vector<Term> terms_;
  std::vector<LookupTable> tables_;
  std::unordered_multimap<std::uint64_t, TermId> by_hash_;
};

}  // namespace hone::space
