// Random small spaces, with an evaluator of their own so that the engine is not its own witness.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "space/space.h"

namespace hone::space::random {

// A formula over variables, evaluated by walking it.
struct Formula {
  enum class Kind {
    kConstant,
    kVariable,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kModulo,
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
    kLookup
  };
  Kind kind = Kind::kConstant;
  Value value = 0;  // of a constant; index of a variable
  std::vector<Formula> parts;
  std::vector<std::pair<Value, Value>> table;

  // Nothing where undefined, by Kleene's logic.
  std::optional<Value> evaluate(const std::vector<Value>& variables) const;
  Expression to_expression(const std::vector<Expression>& variables) const;
  bool is_boolean() const { return kind >= Kind::kEqual && kind <= Kind::kNot; }
};

struct RandomSpace {
  struct Variable {
    std::string name;
    bool auxiliary = false;
    bool ranged = false;
    std::vector<Value> values;
  };
  std::vector<Variable> variables;
  std::vector<Formula> constraints;

  SpaceBuilder builder() const;
  // Every legal configuration, by trying all values of all variables; ascending.
  std::vector<Configuration> solutions() const;
};

RandomSpace random_space(std::mt19937_64& generator);

}  // namespace hone::space::random
