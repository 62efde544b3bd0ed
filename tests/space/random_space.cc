#include "tests/space/random_space.h"

#include <algorithm>
#include <set>

namespace hone::space::random {
namespace {

using Kind = Formula::Kind;

Value floor_mod(Value a, Value b) {
  Value remainder = a % b;
  while (remainder < 0) remainder += std::abs(b);
  return remainder;
}

std::optional<Value> combined(Kind kind, Value x, Value y) {
  switch (kind) {
    case Kind::kAdd:
      return x + y;
    case Kind::kSubtract:
      return x - y;
    case Kind::kMultiply:
      return x * y;
    case Kind::kDivide:
      if (y == 0) return std::nullopt;
      return (x - floor_mod(x, y)) / y;
    case Kind::kModulo:
      if (y == 0) return std::nullopt;
      return floor_mod(x, y);
    case Kind::kMinimum:
      return std::min(x, y);
    case Kind::kMaximum:
      return std::max(x, y);
    case Kind::kEqual:
      return x == y;
    case Kind::kNotEqual:
      return x != y;
    case Kind::kLess:
      return x < y;
    default:
      return x <= y;
  }
}

class Generator {
 public:
  Generator(std::mt19937_64& generator, std::size_t variables)
      : generator_(generator), variables_(variables) {}

  int below(int n) { return static_cast<int>(generator_() % static_cast<unsigned>(n)); }

  Formula constant(Value lower, Value upper) {
    Formula formula;
    formula.value = lower + below(static_cast<int>(upper - lower + 1));
    return formula;
  }

  Formula variable(std::size_t index) {
    Formula formula;
    formula.kind = Kind::kVariable;
    formula.value = static_cast<Value>(index);
    return formula;
  }

  Formula make(Kind kind, std::vector<Formula> parts) {
    Formula formula;
    formula.kind = kind;
    formula.parts = std::move(parts);
    return formula;
  }

  Formula integer(int depth) {
    if (depth == 0 || below(4) == 0) {
      if (below(3) == 0) return constant(-3, 12);
      return variable(generator_() % variables_);
    }
    switch (below(9)) {
      case 0:
      case 1:
        return make(Kind::kMultiply, {integer(depth - 1), integer(depth - 1)});
      case 2:
        return make(Kind::kAdd, {integer(depth - 1), integer(depth - 1)});
      case 3:
        return make(Kind::kSubtract, {integer(depth - 1), integer(depth - 1)});
      case 4:
        return make(Kind::kDivide, {integer(depth - 1), integer(depth - 1)});
      case 5:
        return make(Kind::kModulo, {integer(depth - 1), integer(depth - 1)});
      case 6:
        return make(below(2) ? Kind::kMinimum : Kind::kMaximum,
                    {integer(depth - 1), integer(depth - 1)});
      case 7:
        return make(Kind::kIfThenElse,
                    {boolean(depth - 1), integer(depth - 1), integer(depth - 1)});
      default: {
        Formula formula = make(Kind::kLookup, {integer(depth - 1)});
        for (Value key = -1; key <= 8; ++key) {
          if (below(3) != 0) formula.table.emplace_back(key, below(20) - 4);
        }
        return formula;
      }
    }
  }

  Formula boolean(int depth) {
    const int kind = below(depth > 0 ? 10 : 7);
    switch (kind) {
      case 0:
      case 1:
        return make(Kind::kEqual, {make(Kind::kModulo, {integer(1), integer(1)}), constant(0, 1)});
      case 2:
        return make(Kind::kEqual, {integer(depth), integer(depth)});
      case 3:
        return make(Kind::kNotEqual, {integer(depth), integer(depth)});
      case 4:
        return make(Kind::kLess, {integer(depth), integer(depth)});
      case 5:
      case 6:
        return make(Kind::kLessEqual, {integer(depth), integer(depth)});
      case 7:
        return make(Kind::kAnd, {boolean(depth - 1), boolean(depth - 1)});
      case 8:
        return make(Kind::kOr, {boolean(depth - 1), boolean(depth - 1)});
      default:
        return make(Kind::kNot, {boolean(depth - 1)});
    }
  }

  // The shapes that propagation has rules for: x == y * c, x % y == 0, x == y / c, x * y <= c.
  Formula idiom() {
    const Formula a = variable(generator_() % variables_);
    const Formula b = variable(generator_() % variables_);
    const Formula c = variable(generator_() % variables_);
    switch (below(6)) {
      case 0:
        return make(Kind::kEqual, {a, make(Kind::kMultiply, {b, constant(-2, 4)})});
      case 1:
        return make(Kind::kEqual, {make(Kind::kModulo, {a, b}), constant(0, 0)});
      case 2:
        return make(Kind::kEqual, {a, make(Kind::kDivide, {b, constant(-2, 4)})});
      case 3:
        return make(Kind::kLessEqual, {make(Kind::kMultiply, {a, b}), constant(0, 40)});
      case 4:
        return make(Kind::kEqual, {a, make(Kind::kMultiply, {b, c})});
      default:
        return make(Kind::kEqual, {make(Kind::kAdd, {a, b}), make(Kind::kMultiply, {c, b})});
    }
  }

 private:
  std::mt19937_64& generator_;
  std::size_t variables_;
};

}  // namespace

std::optional<Value> Formula::evaluate(const std::vector<Value>& variables) const {
  if (kind == Kind::kConstant) return value;
  if (kind == Kind::kVariable) return variables[static_cast<std::size_t>(value)];
  const auto a = parts[0].evaluate(variables);
  const auto b = parts.back().evaluate(variables);
  if (kind == Kind::kAnd) {
    if (a.value_or(1) == 0 || b.value_or(1) == 0) return 0;
    return a && b ? std::optional<Value>(1) : std::nullopt;
  }
  if (kind == Kind::kOr) {
    if (a.value_or(0) != 0 || b.value_or(0) != 0) return 1;
    return a && b ? std::optional<Value>(0) : std::nullopt;
  }
  if (!a) return std::nullopt;
  if (kind == Kind::kNot) return *a == 0;
  if (kind == Kind::kIfThenElse) return parts[*a != 0 ? 1 : 2].evaluate(variables);
  if (kind == Kind::kLookup) {
    for (const auto& [key, result] : table) {
      if (key == *a) return result;
    }
    return std::nullopt;
  }
  if (!b) return std::nullopt;
  return combined(kind, *a, *b);
}

Expression Formula::to_expression(const std::vector<Expression>& variables) const {
  if (kind == Kind::kConstant) return value;
  if (kind == Kind::kVariable) return variables[static_cast<std::size_t>(value)];
  std::vector<Expression> e;
  for (const Formula& part : parts) e.push_back(part.to_expression(variables));
  switch (kind) {
    case Kind::kAdd:
      return e[0] + e[1];
    case Kind::kSubtract:
      return e[0] - e[1];
    case Kind::kMultiply:
      return e[0] * e[1];
    case Kind::kDivide:
      return euclidean_div(e[0], e[1]);
    case Kind::kModulo:
      return euclidean_mod(e[0], e[1]);
    case Kind::kMinimum:
      return min(e[0], e[1]);
    case Kind::kMaximum:
      return max(e[0], e[1]);
    case Kind::kEqual:
      return e[0] == e[1];
    case Kind::kNotEqual:
      return e[0] != e[1];
    case Kind::kLess:
      return e[0] < e[1];
    case Kind::kLessEqual:
      return e[0] <= e[1];
    case Kind::kAnd:
      return e[0] && e[1];
    case Kind::kOr:
      return e[0] || e[1];
    case Kind::kNot:
      return !e[0];
    case Kind::kIfThenElse:
      return ite(e[0], e[1], e[2]);
    default: {
      std::vector<Value> keys;
      std::vector<Value> values;
      for (const auto& [key, result] : table) {
        keys.push_back(key);
        values.push_back(result);
      }
      return lookup(e[0], keys, values);
    }
  }
}

SpaceBuilder RandomSpace::builder() const {
  SpaceBuilder builder;
  std::vector<Expression> expressions;
  for (const Variable& variable : variables) {
    if (variable.auxiliary) {
      expressions.push_back(
          builder.auxiliary(variable.name, variable.values.front(), variable.values.back()));
    } else if (variable.ranged) {
      expressions.push_back(
          builder.knob_range(variable.name, "", variable.values.front(), variable.values.back()));
    } else {
      expressions.push_back(builder.knob(variable.name, "", variable.values));
    }
  }
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    builder.require("c" + std::to_string(i), "", constraints[i].to_expression(expressions));
  }
  return builder;
}

std::vector<Configuration> RandomSpace::solutions() const {
  std::set<Configuration> found;
  std::vector<std::size_t> position(variables.size(), 0);
  std::vector<Value> values(variables.size());
  for (;;) {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      values[i] = variables[i].values[position[i]];
    }
    const bool legal = std::all_of(
        constraints.begin(), constraints.end(),
        [&](const Formula& constraint) { return constraint.evaluate(values).value_or(0) != 0; });
    if (legal) {
      Configuration configuration;
      for (std::size_t i = 0; i < variables.size(); ++i) {
        if (!variables[i].auxiliary) configuration.values.push_back(values[i]);
      }
      found.insert(configuration);
    }
    std::size_t i = 0;
    while (i < variables.size() && ++position[i] == variables[i].values.size()) position[i++] = 0;
    if (i == variables.size()) return {found.begin(), found.end()};
  }
}

RandomSpace random_space(std::mt19937_64& generator) {
  RandomSpace space;
  const std::size_t knobs = 2 + generator() % 3;
  const std::size_t auxiliaries = generator() % 3;
  // Equalities over positive variables give computed ones; the others are the hard cases.
  const bool positive = generator() % 2 == 0;
  for (std::size_t i = 0; i < knobs + auxiliaries; ++i) {
    RandomSpace::Variable variable;
    variable.auxiliary = i >= knobs;
    variable.name = (variable.auxiliary ? "aux" : "knob") + std::to_string(i);
    variable.ranged = variable.auxiliary || generator() % 2 == 0;
    const std::size_t size = 1 + generator() % 7;
    if (variable.ranged) {
      const Value lower = static_cast<Value>(generator() % 6) - (positive ? -1 : 3);
      for (std::size_t v = 0; v < size; ++v) {
        variable.values.push_back(lower + static_cast<Value>(v));
      }
    } else {
      while (variable.values.size() < size) {
        const Value value = static_cast<Value>(generator() % 18) - (positive ? -1 : 2);
        if (std::find(variable.values.begin(), variable.values.end(), value) ==
            variable.values.end()) {
          variable.values.push_back(value);
        }
      }
    }
    space.variables.push_back(std::move(variable));
  }
  Generator formulas(generator, space.variables.size());
  const std::size_t constraints = 1 + generator() % 4;
  for (std::size_t i = 0; i < constraints; ++i) {
    space.constraints.push_back(generator() % 2 == 0
                                    ? formulas.idiom()
                                    : formulas.boolean(static_cast<int>(generator() % 4)));
  }
  return space;
}

}  // namespace hone::space::random
