// A space as z3 sees it, and z3's count of its configurations. Needs libz3.
#pragma once

#include <z3++.h>

#include <chrono>
#include <optional>
#include <set>

#include "space/space.h"

namespace hone::space::z3model {

// An expression with the condition under which it is defined.
struct Encoded {
  z3::expr value;
  z3::expr defined;
};

class Model {
 public:
  explicit Model(const SpaceBuilder& builder) : definition_(builder.definition()) {
    for (const Variable& variable : definition_.variables) {
      const z3::expr constant = context_.int_const(variable.name.c_str());
      variables_.push_back(constant);
      if (!variable.auxiliary) knobs_.push_back(constant);
      if (variable.ranged) {
        solver_.add(constant >= number(variable.lower) && constant <= number(variable.upper));
        continue;
      }
      z3::expr_vector choices(context_);
      for (const Value value : variable.values) choices.push_back(constant == number(value));
      solver_.add(z3::mk_or(choices));
    }
    for (const Constraint& constraint : definition_.constraints) {
      const Encoded encoded = encode(constraint.expression);
      solver_.add(encoded.defined && truth(constraint.expression, encoded.value));
    }
  }

  // Every configuration that z3 finds, each found once by forbidding those before it; nothing when
  // it gives up, one query after `timeout_ms` or all of them after `seconds`.
  std::optional<std::set<Configuration>> solutions(unsigned timeout_ms, double seconds = 1e9) {
    const auto begin = std::chrono::steady_clock::now();
    z3::params params(context_);
    params.set("timeout", timeout_ms);
    solver_.set(params);
    std::set<Configuration> found;
    for (;;) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (spent.count() > seconds) return std::nullopt;
      const z3::check_result result = solver_.check();
      if (result == z3::unknown) return std::nullopt;
      if (result == z3::unsat) return found;
      const z3::model model = solver_.get_model();
      Configuration configuration;
      z3::expr_vector differs(context_);
      for (const z3::expr& knob : knobs_) {
        const z3::expr value = model.eval(knob, true);
        configuration.values.push_back(value.get_numeral_int64());
        differs.push_back(knob != value);
      }
      found.insert(configuration);
      solver_.add(z3::mk_or(differs));
    }
  }

 private:
  z3::expr number(Value value) { return context_.int_val(static_cast<std::int64_t>(value)); }
  z3::expr boolean(bool value) { return context_.bool_val(value); }

  // Booleans are kept as z3 booleans; where an integer stands for one, it is compared with 0.
  z3::expr truth(const Expression& expression, const z3::expr& value) {
    return expression.is_boolean() ? value : value != number(0);
  }
  z3::expr integer(const Expression& expression, const z3::expr& value) {
    return expression.is_boolean() ? z3::ite(value, number(1), number(0)) : value;
  }

  Encoded encode(const Expression& expression) {
    const auto operands = expression.operands();
    switch (expression.operation()) {
      case Operator::kConstant:
        if (expression.is_boolean()) {
          return {boolean(expression.constant_value() != 0), boolean(true)};
        }
        return {number(expression.constant_value()), boolean(true)};
      case Operator::kVariable:
        return {variables_[expression.variable_index()], boolean(true)};
      case Operator::kAnd:
      case Operator::kOr:
        return encode_logical(expression);
      case Operator::kNot: {
        const Encoded a = encode(operands[0]);
        return {!truth(operands[0], a.value), a.defined};
      }
      case Operator::kIfThenElse: {
        const Encoded condition = encode(operands[0]);
        const Encoded then = encode(operands[1]);
        const Encoded otherwise = encode(operands[2]);
        const z3::expr chosen = truth(operands[0], condition.value);
        const bool booleans = expression.is_boolean();
        return {z3::ite(chosen, booleans ? then.value : integer(operands[1], then.value),
                        booleans ? otherwise.value : integer(operands[2], otherwise.value)),
                condition.defined && z3::ite(chosen, then.defined, otherwise.defined)};
      }
      case Operator::kLookup: {
        const Encoded key = encode(operands[0]);
        const z3::expr wanted = integer(operands[0], key.value);
        z3::expr value = number(0);
        z3::expr present = boolean(false);
        for (std::size_t i = expression.lookup_keys().size(); i-- > 0;) {
          const z3::expr match = wanted == number(expression.lookup_keys()[i]);
          value = z3::ite(match, number(expression.lookup_values()[i]), value);
          present = present || match;
        }
        return {value, key.defined && present};
      }
      default: {
        Encoded result = encode(operands[0]);
        result.value = integer(operands[0], result.value);
        for (const Expression& operand : operands.subspan(1)) {
          const Encoded next = encode(operand);
          result.defined = result.defined && next.defined;
          combine(expression.operation(), result, integer(operand, next.value));
        }
        return result;
      }
    }
  }

  Encoded encode_logical(const Expression& expression) {
    const bool conjunction = expression.operation() == Operator::kAnd;
    z3::expr_vector values(context_);
    z3::expr_vector all_defined(context_);
    z3::expr_vector deciding(context_);
    for (const Expression& operand : expression.operands()) {
      const Encoded part = encode(operand);
      const z3::expr value = truth(operand, part.value);
      values.push_back(value);
      all_defined.push_back(part.defined);
      deciding.push_back(part.defined && (conjunction ? !value : value));
    }
    const z3::expr decided = z3::mk_or(deciding);
    return {conjunction ? !decided && z3::mk_and(values) : decided || z3::mk_or(values),
            decided || z3::mk_and(all_defined)};
  }

  void combine(Operator operation, Encoded& a, const z3::expr& b) {
    switch (operation) {
      case Operator::kAdd:
        a.value = a.value + b;
        return;
      case Operator::kSubtract:
        a.value = a.value - b;
        return;
      case Operator::kMultiply:
        a.value = a.value * b;
        return;
      case Operator::kDivide:
        a.value = a.value / b;
        a.defined = a.defined && b != number(0);
        return;
      case Operator::kModulo:
        a.value = z3::mod(a.value, b);
        a.defined = a.defined && b != number(0);
        return;
      case Operator::kMinimum:
        a.value = z3::ite(a.value <= b, a.value, b);
        return;
      case Operator::kMaximum:
        a.value = z3::ite(a.value >= b, a.value, b);
        return;
      case Operator::kEqual:
        a.value = a.value == b;
        return;
      case Operator::kNotEqual:
        a.value = a.value != b;
        return;
      case Operator::kLess:
        a.value = a.value < b;
        return;
      default:
        a.value = a.value <= b;
        return;
    }
  }

  Definition definition_;
  z3::context context_;
  z3::solver solver_{context_};
  std::vector<z3::expr> variables_;
  std::vector<z3::expr> knobs_;
};

}  // namespace hone::space::z3model
