#include <algorithm>
#include <utility>

#include "space/compiled_space.h"
#include "space/space.h"

namespace hone::space {
namespace {

// The name of a variable in `expression` that is not one of `variables`.
std::optional<std::string> foreign_variable(const Expression& expression,
                                            const std::vector<Variable>& variables) {
  if (expression.operation() == Operator::kVariable) {
    const std::size_t index = expression.variable_index();
    const bool own =
        index < variables.size() && variables[index].expression.is_same_node(expression);
    if (!own) return expression.variable_name();
  }
  for (const Expression& operand : expression.operands()) {
    if (auto name = foreign_variable(operand, variables)) return name;
  }
  return std::nullopt;
}

void drop_repeated(std::vector<Value>& values) {
  std::vector<Value> unique;
  for (const Value value : values) {
    if (std::ranges::find(unique, value) == unique.end()) unique.push_back(value);
  }
  values = std::move(unique);
}

bool is_in_reach(Value value) {
  return -kInfinity < value && value < kInfinity;
}

}  // namespace

Expression SpaceBuilder::add(Variable variable) {
  std::vector<Variable>& variables = definition_.variables;
  const auto fail = [this](tl::unexpected<Error> error) {
    if (!error_) error_ = std::move(error).value();
  };
  const bool repeated = std::ranges::any_of(
      variables, [&](const Variable& other) { return other.name == variable.name; });
  if (repeated) fail(input_error("'{}' is stated twice in one space", variable.name));
  if (variables.size() == kMaximumVariables) {
    fail(input_error("a space may have at most {} knobs and auxiliary variables",
                     kMaximumVariables));
  }
  const std::vector<Value>& values = variable.values;
  if (variable.ranged ? variable.lower > variable.upper : values.empty()) {
    fail(input_error("the domain of '{}' is empty", variable.name));
  }
  if (!is_in_reach(variable.lower) || !is_in_reach(variable.upper)) {
    fail(input_error("the domain of '{}' leaves the integers below 2^62", variable.name));
  }
  const Expression expression = Expression::variable(variables.size(), variable.name);
  variable.expression = expression;
  variables.push_back(std::move(variable));
  return expression;
}

Expression SpaceBuilder::knob(std::string name, std::string description,
                              std::vector<Value> values) {
  drop_repeated(values);
  const auto [low, high] =
      values.empty() ? std::ranges::minmax_result<Value>{0, 0} : std::ranges::minmax(values);
  return add({.name = std::move(name),
              .description = std::move(description),
              .values = std::move(values),
              .lower = low,
              .upper = high});
}

Expression SpaceBuilder::knob_range(std::string name, std::string description, Value lower,
                                    Value upper) {
  return add({.name = std::move(name),
              .description = std::move(description),
              .ranged = true,
              .lower = lower,
              .upper = upper});
}

Expression SpaceBuilder::auxiliary(std::string name, Value lower, Value upper) {
  return add(
      {.name = std::move(name), .auxiliary = true, .ranged = true, .lower = lower, .upper = upper});
}

void SpaceBuilder::require(std::string name, std::string reason, Expression expression,
                           std::vector<Expression> arguments) {
  definition_.constraints.push_back({std::move(name), std::move(reason), Hardness::kHard,
                                     std::move(expression), std::move(arguments)});
}

void SpaceBuilder::prefer(std::string name, std::string reason, Expression expression,
                          std::vector<Expression> arguments) {
  definition_.constraints.push_back({std::move(name), std::move(reason), Hardness::kSoft,
                                     std::move(expression), std::move(arguments)});
}

bool SpaceBuilder::oppose(std::string_view name) {
  Expression kept = true;
  const auto is_opposed = [&](const Constraint& constraint) {
    return constraint.name == name && constraint.hardness == Hardness::kHard;
  };
  for (const Constraint& constraint : definition_.constraints)
    if (is_opposed(constraint)) kept = kept && constraint.expression;
  if (std::erase_if(definition_.constraints, is_opposed) == 0) return false;
  require(fmt::format("not: {}", name), fmt::format("breaks '{}'", name), !kept);
  return true;
}

Result<Space> SpaceBuilder::build(SpaceOptions options) const {
  if (error_) return tl::unexpected(*error_);
  for (const Constraint& constraint : definition_.constraints) {
    std::vector<Expression> expressions = constraint.arguments;
    expressions.push_back(constraint.expression);
    for (const Expression& expression : expressions) {
      if (const auto name = foreign_variable(expression, definition_.variables)) {
        return input_error("constraint '{}' uses '{}', a variable of another space",
                           constraint.name, *name);
      }
    }
  }
  HONE_ASSIGN(auto compiled, CompiledSpace::compile(definition_, options));
  return Space(std::move(compiled));
}

}  // namespace hone::space
