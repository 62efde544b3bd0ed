// Computations for tests of what follows from them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "measure/rounding.h"
#include "problem/computation.h"

namespace hone::measure {

// A computation put together value by value.
class Built {
 public:
  int input(int binding) {
    problem::ElementValue value{.kind = problem::ElementValue::Kind::kInput};
    value.binding = binding;
    return add(std::move(value));
  }
  int constant(double number) {
    problem::ElementValue value{.kind = problem::ElementValue::Kind::kConstant};
    value.constant = number;
    return add(std::move(value));
  }
  int operation(const char* name, std::vector<int> operands) {
    return add({.kind = problem::ElementValue::Kind::kOperation,
                .operation = name,
                .operands = std::move(operands)});
  }
  int reduction(const char* combiner, int term, int start, std::int64_t terms) {
    problem::ElementValue value{.kind = problem::ElementValue::Kind::kReduction,
                                .operation = combiner,
                                .operands = {term, start}};
    value.terms = terms;
    value.root = true;
    return add(std::move(value));
  }
  int add(problem::ElementValue value) {
    computation.values.push_back(std::move(value));
    return static_cast<int>(computation.values.size()) - 1;
  }
  Estimate estimate(const InputPlan& plan, bool matrix_units = false) const {
    return estimate_rounding(computation, plan, matrix_units).values.back();
  }
  problem::Computation computation;
};

}  // namespace hone::measure
