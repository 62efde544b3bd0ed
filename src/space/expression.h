// Expressions over the integer variables of a space.
//
// Arithmetic is on 64-bit integers. Division and remainder are Euclidean, as in SMT-LIB: for b !=
// 0, a = b * euclidean_div(a, b) + euclidean_mod(a, b) with 0 <= euclidean_mod(a, b) < |b|. A
// division by zero, a lookup key that is not in its table and a result beyond 64 bits are
// *undefined*, and undefinedness spreads by Kleene's strong logic: arithmetic and comparisons on it
// are undefined; `false && u` is false, `true || u` is true; `ite` is undefined when its condition
// or the branch taken is. A constraint whose expression is undefined is broken.
// Booleans are the integers 0 and 1; an integer where a boolean is wanted means "is not 0".
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::space {

using Value = std::int64_t;

enum class Operator : std::uint8_t {
  kConstant,
  kVariable,
  // Operations on two or more values, from left to right: apply() of arithmetic.h.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,       // Euclidean
  kModulo,       // Euclidean
  kExactDivide,  // undefined unless the second operand divides the first; of terms only
  kMinimum,
  kMaximum,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kAnd,
  kOr,
  kNot,
  kIfThenElse,
  kLookup,
};
inline bool is_comparison(Operator operation) {
  return Operator::kEqual <= operation && operation <= Operator::kLessEqual;
}
// Whether the operation gives a boolean for all operands.
inline bool gives_boolean(Operator operation) {
  return Operator::kEqual <= operation && operation <= Operator::kNot;
}

// A value type over a shared immutable node: copying costs a reference count. Distinct threads may
// read and copy the same expression.
class Expression {
 public:
  // A constant; a bool gives the boolean 0 or 1.
  template <std::integral T>
  Expression(T value)
      : Expression(make_constant(static_cast<Value>(value), std::same_as<T, bool>)) {}

  // The variable at `index` of the list given to evaluate(); SpaceBuilder makes these.
  static Expression variable(std::size_t index, std::string name);
  static Expression make(Operator operation, std::vector<Expression> operands);
  static Expression make_lookup(Expression key, std::vector<Value> keys, std::vector<Value> values);

  Operator operation() const { return node_->operation; }
  bool is_boolean() const { return node_->boolean; }
  Value constant_value() const { return node_->constant; }          // of a kConstant
  std::size_t variable_index() const { return node_->variable; }    // of a kVariable
  const std::string& variable_name() const { return node_->name; }  // of a kVariable
  std::span<const Expression> operands() const { return node_->operands; }
  // Keys of a kLookup in the order given, and the values beside them.
  std::span<const Value> lookup_keys() const { return node_->keys; }
  std::span<const Value> lookup_values() const { return node_->values; }

  // Whether both are the same node (structure is not compared).
  bool is_same_node(const Expression& other) const { return node_ == other.node_; }
  const void* node_address() const { return node_.get(); }

 private:
  struct Node {
    Operator operation = Operator::kConstant;
    bool boolean = false;
    Value constant = 0;
    std::size_t variable = 0;
    std::string name = {};
    std::vector<Expression> operands = {};
    std::vector<Value> keys = {}, values = {};
  };
  explicit Expression(Node node);
  static Expression make_constant(Value value, bool boolean);

  std::shared_ptr<const Node> node_;
};

inline Expression constant(Value value) {
  return Expression(value);
}

inline Expression operator+(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kAdd, {a, b});
}
inline Expression operator-(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kSubtract, {a, b});
}
inline Expression operator-(const Expression& a) {
  return constant(0) - a;
}
inline Expression operator*(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kMultiply, {a, b});
}
inline Expression euclidean_div(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kDivide, {a, b});
}
inline Expression euclidean_mod(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kModulo, {a, b});
}
inline Expression min(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kMinimum, {a, b});
}
inline Expression max(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kMaximum, {a, b});
}

inline Expression operator==(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kEqual, {a, b});
}
inline Expression operator!=(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kNotEqual, {a, b});
}
inline Expression operator<(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kLess, {a, b});
}
inline Expression operator<=(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kLessEqual, {a, b});
}
inline Expression operator>(const Expression& a, const Expression& b) {
  return b < a;
}
inline Expression operator>=(const Expression& a, const Expression& b) {
  return b <= a;
}

// Both operands are always part of the expression; there is no short cut in C++.
inline Expression operator&&(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kAnd, {a, b});
}
inline Expression operator||(const Expression& a, const Expression& b) {
  return Expression::make(Operator::kOr, {a, b});
}
inline Expression operator!(const Expression& a) {
  return Expression::make(Operator::kNot, {a});
}
// `condition` ? `then` : `otherwise`.
inline Expression ite(const Expression& condition, const Expression& then,
                      const Expression& otherwise) {
  return Expression::make(Operator::kIfThenElse, {condition, then, otherwise});
}

// The value beside `key` in the table; undefined for a key that is not there. Where a key is given
// twice the first counts; the longer of the two lists is cut.
inline Expression lookup(const Expression& key, std::vector<Value> keys,
                         std::vector<Value> values) {
  return Expression::make_lookup(key, std::move(keys), std::move(values));
}

// The conjunction of `terms` (true when empty), and the disjunction (false when empty).
Expression all_of(std::span<const Expression> terms);
Expression any_of(std::span<const Expression> terms);
// The product of `factors` (1 when empty).
Expression product_of(std::span<const Expression> factors);

// Returns the value for variables[i] as variable i; nullopt if it is undefined.
std::optional<Value> evaluate(const Expression& expression, std::span<const Value> variables);

// Indices of the variables that occur, ascending.
std::vector<std::size_t> variables_of(const Expression& expression);

// Infix, with the fewest parentheses: "wg_0 % (sg_0 * 16) == 0"; div and mod print as / and %.
// Without "* 1" and "+ 0".
std::string to_string(const Expression& expression);

}  // namespace hone::space
