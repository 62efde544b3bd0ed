#include "bench/space_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hone::space {
namespace {

std::string python(const Expression& expression);

// Auxiliary variables are named "sg_m_cnt#41".
std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '#', '_');
  return name;
}

std::string joined(const Expression& expression, std::string_view between) {
  std::vector<std::string> parts;
  for (const Expression& operand : expression.operands()) parts.push_back(python(operand));
  return fmt::format("({})", fmt::join(parts, between));
}

// Kernel Tuner reads restrictions itself and takes operators only, no `if`. Divisors are positive
// in these spaces, where Python's // and % are Euclidean; one that is 0 makes a configuration
// illegal by other constraints, and must not raise.
std::string quotient(const Expression& expression, std::string_view operation) {
  const std::string a = python(expression.operands()[0]), b = python(expression.operands()[1]);
  if (expression.operands()[1].operation() == Operator::kConstant)
    return fmt::format("({} {} {})", a, operation, b);
  return fmt::format("({0} {1} ({2} + ({2} == 0)))", a, operation, b);
}

std::string python(const Expression& expression) {
  const auto operand = [&](std::size_t i) { return python(expression.operands()[i]); };
  switch (expression.operation()) {
    case Operator::kConstant:
      return fmt::format("{}", expression.constant_value());
    case Operator::kVariable:
      return identifier(expression.variable_name());
    case Operator::kAdd:
      return joined(expression, " + ");
    case Operator::kSubtract:
      return joined(expression, " - ");
    case Operator::kMultiply:
      return joined(expression, " * ");
    case Operator::kDivide:
    case Operator::kExactDivide:
      return quotient(expression, "//");
    case Operator::kModulo:
      return quotient(expression, "%");
    case Operator::kMinimum:
      return "min" + joined(expression, ", ");
    case Operator::kMaximum:
      return "max" + joined(expression, ", ");
    case Operator::kEqual:
      return joined(expression, " == ");
    case Operator::kNotEqual:
      return joined(expression, " != ");
    case Operator::kLess:
      return joined(expression, " < ");
    case Operator::kLessEqual:
      return joined(expression, " <= ");
    case Operator::kAnd:
      return joined(expression, " and ");
    case Operator::kOr:
      return joined(expression, " or ");
    case Operator::kNot:
      return fmt::format("(not {})", operand(0));
    case Operator::kIfThenElse:
      return fmt::format("(({0}) * {1} + (1 - ({0})) * {2})", operand(0), operand(1), operand(2));
    case Operator::kLookup: {
      std::vector<std::string> pairs;
      for (std::size_t i = 0; i < expression.lookup_keys().size(); ++i)
        pairs.push_back(
            fmt::format("{}: {}", expression.lookup_keys()[i], expression.lookup_values()[i]));
      return fmt::format("{{{}}}[{}]", fmt::join(pairs, ", "), operand(0));
    }
  }
  return "False";
}

bool is_variable(const Expression& expression, const std::string& name) {
  return expression.operation() == Operator::kVariable && expression.variable_name() == name;
}

void bound(const Expression& expression, Variable& variable) {
  const auto operands = expression.operands();
  if (expression.operation() == Operator::kAnd)
    for (const Expression& operand : operands) bound(operand, variable);
  if (expression.operation() != Operator::kLess && expression.operation() != Operator::kLessEqual)
    return;
  const Value strict = expression.operation() == Operator::kLess ? 1 : 0;
  if (is_variable(operands[0], variable.name) && operands[1].operation() == Operator::kConstant)
    variable.upper = std::min(variable.upper, operands[1].constant_value() - strict);
  if (is_variable(operands[1], variable.name) && operands[0].operation() == Operator::kConstant)
    variable.lower = std::max(variable.lower, operands[0].constant_value() + strict);
}

}  // namespace

Result<nlohmann::ordered_json> exported(const SpaceBuilder& builder) {
  HONE_ASSIGN(const Space space, builder.build());
  nlohmann::ordered_json json{{"count", space.count().value}};
  for (Variable variable : builder.definition().variables) {
    if (!variable.auxiliary) {
      HONE_ASSIGN(const std::size_t index, space.knob_index(variable.name));
      json["knobs"][identifier(variable.name)] = space.narrowed(index);
      continue;
    }
    for (const Constraint& constraint : builder.definition().constraints)
      bound(constraint.expression, variable);
    constexpr Value kMost = 1 << 16;
    if (variable.upper - variable.lower > kMost)
      return input_error("the auxiliary variable '{}' has no bounds", variable.name);
    json["auxiliary"][identifier(variable.name)] = {variable.lower, variable.upper};
  }
  for (const Constraint& constraint : builder.definition().constraints)
    json["constraints"].push_back(python(constraint.expression));
  return json;
}

}  // namespace hone::space
