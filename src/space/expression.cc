#include "space/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "space/arithmetic.h"

namespace hone::space {

namespace {

Value value_of(const Expression& expression, std::span<const Value> variables);

Value value_of_lookup(const Expression& expression, Value key) {
  const auto keys = expression.lookup_keys();
  const auto found = std::ranges::find(keys, key);
  if (key == kUndefined || found == keys.end()) return kUndefined;
  return expression.lookup_values()[static_cast<std::size_t>(found - keys.begin())];
}

Value value_of(const Expression& expression, std::span<const Value> variables) {
  const auto operands = expression.operands();
  switch (expression.operation()) {
    case Operator::kConstant:
      return expression.constant_value();
    case Operator::kVariable:
      return expression.variable_index() < variables.size() ? variables[expression.variable_index()]
                                                            : kUndefined;
    case Operator::kNot:
      return logical_not(value_of(operands[0], variables));
    case Operator::kIfThenElse: {
      const Value condition = value_of(operands[0], variables);
      if (condition == kUndefined) return kUndefined;
      return value_of(operands[condition != 0 ? 1 : 2], variables);
    }
    case Operator::kLookup:
      return value_of_lookup(expression, value_of(operands[0], variables));
    default: {
      const Value value = fold(expression.operation(), operands, [&](const Expression& operand) {
        return value_of(operand, variables);
      });
      return expression.is_boolean() ? truth(value) : value;
    }
  }
}

// Printed form of an operation: the symbol between or before its operands, and its precedence. An
// operand of lower precedence gets parentheses.
struct Notation {
  std::string_view symbol;
  int strength;
};
constexpr int kOfComparison = 3, kOfSum = 4, kOfProduct = 5, kOfNegation = 6, kOfCall = 7;
// In the order of Operation.
constexpr std::array kNotations = std::to_array<Notation>({{"", kOfCall},
                                                           {"", kOfCall},
                                                           {" + ", kOfSum},
                                                           {" - ", kOfSum},
                                                           {" * ", kOfProduct},
                                                           {" / ", kOfProduct},
                                                           {" % ", kOfProduct},
                                                           {" / ", kOfProduct},
                                                           {"min", kOfCall},
                                                           {"max", kOfCall},
                                                           {" == ", kOfComparison},
                                                           {" != ", kOfComparison},
                                                           {" < ", kOfComparison},
                                                           {" <= ", kOfComparison},
                                                           {" && ", 2},
                                                           {" || ", 1},
                                                           {"!", kOfNegation},
                                                           {"ite", kOfCall},
                                                           {"lookup", kOfCall}});

const Notation& notation(const Expression& expression) {
  return kNotations.at(static_cast<std::size_t>(expression.operation()));
}

std::string call(const Expression& expression, std::span<const Expression> operands) {
  std::vector<std::string> texts;
  for (const Expression& operand : operands) texts.push_back(to_string(operand));
  return fmt::format("{}({})", notation(expression).symbol, fmt::join(texts, ", "));
}

std::string table(const Expression& expression) {
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < expression.lookup_keys().size(); ++i)
    entries.push_back(
        fmt::format("{}: {}", expression.lookup_keys()[i], expression.lookup_values()[i]));
  return fmt::format("lookup({}, {{{}}})", to_string(expression.operands()[0]),
                     fmt::join(entries, ", "));
}

std::string operand_text(const Expression& operand, int least_strength) {
  const std::string text = to_string(operand);
  return notation(operand).strength < least_strength ? "(" + text + ")" : text;
}

// Whether the operand may be omitted from a sum or product: "+ 0" and "* 1", which folds over lists
// begin with.
bool is_neutral(Operator operation, const Expression& operand) {
  return operand.operation() == Operator::kConstant &&
         ((operation == Operator::kAdd && operand.constant_value() == 0) ||
          (operation == Operator::kMultiply && operand.constant_value() == 1));
}

void collect_variables(const Expression& expression, std::unordered_set<const void*>& seen,
                       std::vector<std::size_t>& variables) {
  if (!seen.insert(expression.node_address()).second) return;
  if (expression.operation() == Operator::kVariable) {
    variables.push_back(expression.variable_index());
  }
  for (const Expression& operand : expression.operands()) {
    collect_variables(operand, seen, variables);
  }
}

}  // namespace

Expression::Expression(Node node) : node_(std::make_shared<const Node>(std::move(node))) {}

Expression Expression::make_constant(Value value, bool boolean) {
  return Expression(Node{.boolean = boolean, .constant = value});
}

Expression Expression::variable(std::size_t index, std::string name) {
  return Expression(
      Node{.operation = Operator::kVariable, .variable = index, .name = std::move(name)});
}

Expression Expression::make(Operator operation, std::vector<Expression> operands) {
  const bool boolean =
      gives_boolean(operation) ||
      (operation == Operator::kIfThenElse && operands[1].is_boolean() && operands[2].is_boolean());
  return Expression(
      Node{.operation = operation, .boolean = boolean, .operands = std::move(operands)});
}

Expression Expression::make_lookup(Expression key, std::vector<Value> keys,
                                   std::vector<Value> values) {
  const std::size_t size = std::min(keys.size(), values.size());
  keys.resize(size);
  values.resize(size);
  return Expression(Node{.operation = Operator::kLookup,
                         .operands = {std::move(key)},
                         .keys = std::move(keys),
                         .values = std::move(values)});
}

Expression all_of(std::span<const Expression> terms) {
  if (terms.empty()) return true;
  return Expression::make(Operator::kAnd, {terms.begin(), terms.end()});
}
Expression any_of(std::span<const Expression> terms) {
  if (terms.empty()) return false;
  return Expression::make(Operator::kOr, {terms.begin(), terms.end()});
}
Expression product_of(std::span<const Expression> factors) {
  if (factors.empty()) return 1;
  return Expression::make(Operator::kMultiply, {factors.begin(), factors.end()});
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
  std::ranges::sort(variables);
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
    case Operator::kConstant:
      if (expression.is_boolean()) return expression.constant_value() != 0 ? "true" : "false";
      return std::to_string(expression.constant_value());
    case Operator::kVariable:
      return expression.variable_name();
    case Operator::kNot:
      return "!" + operand_text(operands[0], kOfNegation);
    case Operator::kMinimum:
    case Operator::kMaximum:
    case Operator::kIfThenElse:
      return call(expression, operands);
    case Operator::kLookup:
      return table(expression);
    default:
      break;
  }
  const auto [symbol, own] = notation(expression);
  if (operands.empty()) return to_string(expression.operands().front());
  if (operands.size() == 1) return operand_text(operands.front(), own);
  // `x > 16` is kept as 16 < x; people write the constant last.
  const bool constant_first = operands[0].operation() == Operator::kConstant &&
                              operands.back().operation() != Operator::kConstant;
  if (constant_first && (expression.operation() == Operator::kLess ||
                         expression.operation() == Operator::kLessEqual)) {
    return operand_text(operands[1], kOfSum) +
           (expression.operation() == Operator::kLess ? " > " : " >= ") + to_string(operands[0]);
  }
  // Comparisons do not chain, and - / % are not associative: only a first operand of the same
  // strength goes without parentheses.
  const bool chains = own != kOfComparison;
  std::string text = operand_text(operands[0], chains ? own : own + 1);
  for (const Expression& operand : std::span(operands).subspan(1)) {
    const bool same = operand.operation() == expression.operation();
    const bool associative = same && expression.operation() != Operator::kSubtract &&
                             expression.operation() != Operator::kDivide &&
                             expression.operation() != Operator::kModulo;
    text += symbol;
    text += operand_text(operand, associative && chains ? own : own + 1);
  }
  return text;
}

}  // namespace hone::space
