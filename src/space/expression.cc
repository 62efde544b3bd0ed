#include "space/expression.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "space/arithmetic.h"

namespace hone::space {

struct Expression::Node {
  Operation operation = Operation::kConstant;
  bool boolean = false;
  Value constant = 0;
  std::size_t variable = 0;
  std::string name;
  std::vector<Expression> operands;
  std::vector<Value> keys, values;
};

namespace {

bool gives_boolean(Operation operation, std::span<const Expression> operands) {
  switch (operation) {
    case Operation::kEqual:
    case Operation::kNotEqual:
    case Operation::kLess:
    case Operation::kLessEqual:
    case Operation::kAnd:
    case Operation::kOr:
    case Operation::kNot:
      return true;
    case Operation::kIfThenElse:
      return operands[1].is_boolean() && operands[2].is_boolean();
    default:
      return false;
  }
}

Value fold(std::span<const Expression> operands, std::span<const Value> variables,
           Value (*combine)(Value, Value));
Value value_of(const Expression& expression, std::span<const Value> variables);

Value value_of_lookup(const Expression& expression, Value key) {
  const auto keys = expression.lookup_keys();
  const auto found = std::find(keys.begin(), keys.end(), key);
  if (key == kUndefined || found == keys.end()) return kUndefined;
  return expression.lookup_values()[static_cast<std::size_t>(found - keys.begin())];
}

Value value_of(const Expression& expression, std::span<const Value> variables) {
  const auto operands = expression.operands();
  switch (expression.operation()) {
    case Operation::kConstant:
      return expression.constant_value();
    case Operation::kVariable:
      return expression.variable_index() < variables.size() ? variables[expression.variable_index()]
                                                            : kUndefined;
    case Operation::kAdd:
      return fold(operands, variables, add);
    case Operation::kSubtract:
      return fold(operands, variables, subtract);
    case Operation::kMultiply:
      return fold(operands, variables, multiply);
    case Operation::kDivide:
      return fold(operands, variables, divide);
    case Operation::kModulo:
      return fold(operands, variables, modulo);
    case Operation::kMinimum:
      return fold(operands, variables, minimum);
    case Operation::kMaximum:
      return fold(operands, variables, maximum);
    case Operation::kEqual:
      return fold(operands, variables, equal);
    case Operation::kNotEqual:
      return fold(operands, variables, not_equal);
    case Operation::kLess:
      return fold(operands, variables, less);
    case Operation::kLessEqual:
      return fold(operands, variables, less_equal);
    case Operation::kAnd:
      return truth(fold(operands, variables, logical_and));
    case Operation::kOr:
      return truth(fold(operands, variables, logical_or));
    case Operation::kNot:
      return logical_not(value_of(operands[0], variables));
    case Operation::kIfThenElse: {
      const Value condition = value_of(operands[0], variables);
      if (condition == kUndefined) return kUndefined;
      return value_of(operands[condition != 0 ? 1 : 2], variables);
    }
    case Operation::kLookup:
      return value_of_lookup(expression, value_of(operands[0], variables));
  }
  return kUndefined;
}

Value fold(std::span<const Expression> operands, std::span<const Value> variables,
           Value (*combine)(Value, Value)) {
  Value result = value_of(operands[0], variables);
  for (const Expression& operand : operands.subspan(1)) {
    result = combine(result, value_of(operand, variables));
  }
  return result;
}

// Binding strength for printing; an operand weaker than its operator gets parentheses.
int strength(Operation operation) {
  switch (operation) {
    case Operation::kOr:
      return 1;
    case Operation::kAnd:
      return 2;
    case Operation::kEqual:
    case Operation::kNotEqual:
    case Operation::kLess:
    case Operation::kLessEqual:
      return 3;
    case Operation::kAdd:
    case Operation::kSubtract:
      return 4;
    case Operation::kMultiply:
    case Operation::kDivide:
    case Operation::kModulo:
      return 5;
    case Operation::kNot:
      return 6;
    default:
      return 7;
  }
}

std::string_view symbol(Operation operation) {
  switch (operation) {
    case Operation::kAdd:
      return " + ";
    case Operation::kSubtract:
      return " - ";
    case Operation::kMultiply:
      return " * ";
    case Operation::kDivide:
      return " / ";
    case Operation::kModulo:
      return " % ";
    case Operation::kEqual:
      return " == ";
    case Operation::kNotEqual:
      return " != ";
    case Operation::kLess:
      return " < ";
    case Operation::kLessEqual:
      return " <= ";
    case Operation::kAnd:
      return " && ";
    case Operation::kOr:
      return " || ";
    case Operation::kMinimum:
      return "min";
    case Operation::kMaximum:
      return "max";
    case Operation::kIfThenElse:
      return "ite";
    default:
      return "";
  }
}

std::string call(std::string_view name, std::span<const Expression> operands) {
  std::string text = std::string(name) + "(";
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) text += ", ";
    text += to_string(operands[i]);
  }
  return text + ")";
}

std::string table(const Expression& expression) {
  std::string text = "lookup(" + to_string(expression.operands()[0]) + ", {";
  for (std::size_t i = 0; i < expression.lookup_keys().size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(expression.lookup_keys()[i]) + ": " +
            std::to_string(expression.lookup_values()[i]);
  }
  return text + "})";
}

std::string operand_text(const Expression& operand, int least_strength) {
  const std::string text = to_string(operand);
  return strength(operand.operation()) < least_strength ? "(" + text + ")" : text;
}

// Whether it may be left out of a sum or a product: "+ 0" and "* 1", which folds over lists begin
// with.
bool is_neutral(Operation operation, const Expression& operand) {
  return operand.operation() == Operation::kConstant &&
         ((operation == Operation::kAdd && operand.constant_value() == 0) ||
          (operation == Operation::kMultiply && operand.constant_value() == 1));
}

void collect_variables(const Expression& expression, std::unordered_set<const void*>& seen,
                       std::vector<std::size_t>& variables) {
  if (!seen.insert(expression.node_address()).second) return;
  if (expression.operation() == Operation::kVariable) {
    variables.push_back(expression.variable_index());
  }
  for (const Expression& operand : expression.operands()) {
    collect_variables(operand, seen, variables);
  }
}

}  // namespace

Expression Expression::make_constant(Value value, bool boolean) {
  Node node;
  node.constant = value;
  node.boolean = boolean;
  return Expression(std::make_shared<const Node>(std::move(node)));
}

Expression Expression::variable(std::size_t index, std::string name) {
  Node node;
  node.operation = Operation::kVariable;
  node.variable = index;
  node.name = std::move(name);
  return Expression(std::make_shared<const Node>(std::move(node)));
}

Expression Expression::make(Operation operation, std::vector<Expression> operands) {
  Node node;
  node.operation = operation;
  node.boolean = gives_boolean(operation, operands);
  node.operands = std::move(operands);
  return Expression(std::make_shared<const Node>(std::move(node)));
}

Expression Expression::make_lookup(Expression key, std::vector<Value> keys,
                                   std::vector<Value> values) {
  Node node;
  node.operation = Operation::kLookup;
  node.operands.push_back(std::move(key));
  const std::size_t size = std::min(keys.size(), values.size());
  keys.resize(size);
  values.resize(size);
  node.keys = std::move(keys);
  node.values = std::move(values);
  return Expression(std::make_shared<const Node>(std::move(node)));
}

Operation Expression::operation() const {
  return node_->operation;
}
bool Expression::is_boolean() const {
  return node_->boolean;
}
Value Expression::constant_value() const {
  return node_->constant;
}
std::size_t Expression::variable_index() const {
  return node_->variable;
}
const std::string& Expression::variable_name() const {
  return node_->name;
}
std::span<const Expression> Expression::operands() const {
  return node_->operands;
}
std::span<const Value> Expression::lookup_keys() const {
  return node_->keys;
}
std::span<const Value> Expression::lookup_values() const {
  return node_->values;
}

Expression constant(Value value) {
  return Expression(value);
}

Expression operator+(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kAdd, {a, b});
}
Expression operator-(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kSubtract, {a, b});
}
Expression operator-(const Expression& a) {
  return Expression::make(Operation::kSubtract, {constant(0), a});
}
Expression operator*(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kMultiply, {a, b});
}
Expression euclidean_div(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kDivide, {a, b});
}
Expression euclidean_mod(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kModulo, {a, b});
}
Expression min(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kMinimum, {a, b});
}
Expression max(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kMaximum, {a, b});
}
Expression operator==(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kEqual, {a, b});
}
Expression operator!=(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kNotEqual, {a, b});
}
Expression operator<(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kLess, {a, b});
}
Expression operator<=(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kLessEqual, {a, b});
}
Expression operator>(const Expression& a, const Expression& b) {
  return b < a;
}
Expression operator>=(const Expression& a, const Expression& b) {
  return b <= a;
}
Expression operator&&(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kAnd, {a, b});
}
Expression operator||(const Expression& a, const Expression& b) {
  return Expression::make(Operation::kOr, {a, b});
}
Expression operator!(const Expression& a) {
  return Expression::make(Operation::kNot, {a});
}
Expression ite(const Expression& condition, const Expression& then, const Expression& otherwise) {
  return Expression::make(Operation::kIfThenElse, {condition, then, otherwise});
}
Expression lookup(const Expression& key, std::vector<Value> keys, std::vector<Value> values) {
  return Expression::make_lookup(key, std::move(keys), std::move(values));
}

Expression all_of(std::span<const Expression> terms) {
  if (terms.empty()) return true;
  return Expression::make(Operation::kAnd, {terms.begin(), terms.end()});
}
Expression any_of(std::span<const Expression> terms) {
  if (terms.empty()) return false;
  return Expression::make(Operation::kOr, {terms.begin(), terms.end()});
}
Expression product_of(std::span<const Expression> factors) {
  if (factors.empty()) return 1;
  return Expression::make(Operation::kMultiply, {factors.begin(), factors.end()});
}

std::optional<Value> evaluate(const Expression& expression, std::span<const Value> variables) {
  const Value value = value_of(expression, variables);
  if (value == kUndefined) return std::nullopt;
  return value;
}

std::vector<std::size_t> variables_of(const Expression& expression) {
  std::unordered_set<const void*> seen;
  std::vector<std::size_t> variables;
  collect_variables(expression, seen, variables);
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  return variables;
}

std::string to_string(const Expression& expression) {
  std::vector<Expression> operands(expression.operands().begin(), expression.operands().end());
  if (operands.size() > 1)
    std::erase_if(operands, [&](const Expression& operand) {
      return is_neutral(expression.operation(), operand);
    });
  switch (expression.operation()) {
    case Operation::kConstant:
      if (expression.is_boolean()) return expression.constant_value() != 0 ? "true" : "false";
      return std::to_string(expression.constant_value());
    case Operation::kVariable:
      return expression.variable_name();
    case Operation::kNot:
      return "!" + operand_text(operands[0], strength(Operation::kNot));
    case Operation::kMinimum:
    case Operation::kMaximum:
    case Operation::kIfThenElse:
      return call(symbol(expression.operation()), operands);
    case Operation::kLookup:
      return table(expression);
    default:
      break;
  }
  const int own = strength(expression.operation());
  if (operands.empty()) return to_string(expression.operands().front());
  if (operands.size() == 1) return operand_text(operands.front(), own);
  // `x > 16` is kept as 16 < x; people write the constant last.
  const bool constant_first = operands[0].operation() == Operation::kConstant &&
                              operands.back().operation() != Operation::kConstant;
  if (constant_first && (expression.operation() == Operation::kLess ||
                         expression.operation() == Operation::kLessEqual)) {
    return operand_text(operands[1], strength(Operation::kAdd)) +
           (expression.operation() == Operation::kLess ? " > " : " >= ") + to_string(operands[0]);
  }
  // Comparisons do not chain, and - / % are not associative: only a first operand of the same
  // strength goes without parentheses.
  const bool chains = own != strength(Operation::kEqual);
  std::string text = operand_text(operands[0], chains ? own : own + 1);
  for (const Expression& operand : std::span(operands).subspan(1)) {
    const bool same = operand.operation() == expression.operation();
    const bool associative = same && expression.operation() != Operation::kSubtract &&
                             expression.operation() != Operation::kDivide &&
                             expression.operation() != Operation::kModulo;
    text += symbol(expression.operation());
    text += operand_text(operand, associative && chains ? own : own + 1);
  }
  return text;
}

}  // namespace hone::space
