#include "measure/input_dependence.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hone::measure {
namespace {

using problem::ElementValue;
using problem::ScalarKind;

constexpr Polynomial kNone{};

}  // namespace

int InputDependence::source_of(int value) const {
  for (;;) {
    const ElementValue& each = computation_.at(value);
    if (each.kind == ElementValue::Kind::kInput) return each.binding;
    const bool converts = each.kind == ElementValue::Kind::kOperation &&
                          each.operands.size() == 1 && each.operation.facts().converts_floats();
    if (each.kind != ElementValue::Kind::kElement && !converts) return -1;
    value = each.operands.front();
  }
}

std::set<std::size_t> InputDependence::sources_of(int index) const {
  std::set<std::size_t> bindings;
  // Operands come before what uses them: from the value down, each is looked at once.
  std::vector<bool> used(computation_.values.size(), false);
  used[static_cast<std::size_t>(index)] = true;
  for (int i = index; i >= 0; --i) {
    if (!used[static_cast<std::size_t>(i)]) continue;
    const ElementValue& value = computation_.at(i);
    if (value.kind == ElementValue::Kind::kInput && value.binding >= 0)
      bindings.insert(static_cast<std::size_t>(value.binding));
    for (const int operand : value.operands) used[static_cast<std::size_t>(operand)] = true;
  }
  return bindings;
}

Polynomial InputDependence::polynomial_of(int index) {
  const auto known = polynomials_.find(index);
  if (known != polynomials_.end()) return known->second;
  return polynomials_[index] = made_of(computation_.at(index));
}

Polynomial InputDependence::made_of(const ElementValue& value) {
  const auto operand = [&](std::size_t i) { return polynomial_of(value.operands.at(i)); };
  switch (value.kind) {
    case ElementValue::Kind::kInput:
      return {1, 1};
    case ElementValue::Kind::kConstant: {
      const bool whole = value.constant == std::rint(value.constant) &&
                         std::abs(value.constant) <= kMagnitude && value.constant != 0;
      return {0, whole ? std::abs(value.constant) : 0};
    }
    case ElementValue::Kind::kElement:
      return operand(0);
    case ElementValue::Kind::kOneOf: {
      Polynomial most{0, 0};
      for (std::size_t i = 0; i < value.operands.size(); ++i) {
        const ElementValue& each = computation_.at(value.operands[i]);
        if (each.kind == ElementValue::Kind::kConstant && each.constant == 0) continue;  // padding
        const Polynomial one = operand(i);
        if (one.degree == 0) return kNone;
        most = {std::max(most.degree, one.degree), std::max(most.coefficients, one.coefficients)};
      }
      return most;
    }
    case ElementValue::Kind::kOperation:
      break;
    default:
      return kNone;
  }
  if (value.operation.facts().keeps_polynomial) return operand(0);
  if (value.operands.size() != 2) return kNone;
  const Polynomial a = operand(0), b = operand(1);
  if (a.coefficients == 0 || b.coefficients == 0) return kNone;
  if (value.operation.is(ScalarKind::kProduct))
    return {a.degree + b.degree, a.coefficients * b.coefficients};
  const bool sum =
      value.operation.is(ScalarKind::kSum) || value.operation.is(ScalarKind::kDifference);
  return sum ? Polynomial{std::max(a.degree, b.degree), a.coefficients + b.coefficients} : kNone;
}

bool InputDependence::vanishes(int index) {
  const auto known = vanishing_.find(index);
  if (known != vanishing_.end()) return known->second;
  return vanishing_[index] = is_zero_of_zeros(computation_.at(index));
}

bool InputDependence::is_zero_of_zeros(const ElementValue& value) {
  const auto operand = [&](std::size_t i) { return vanishes(value.operands.at(i)); };
  if (value.kind == ElementValue::Kind::kInput) return true;
  if (value.kind == ElementValue::Kind::kElement) return operand(0);
  if (value.kind != ElementValue::Kind::kOperation || value.operands.empty()) return false;
  const problem::ScalarFacts& facts = value.operation.facts();
  if (facts.kind == ScalarKind::kProduct) return operand(0) || operand(1);
  if (facts.kind == ScalarKind::kSum || facts.kind == ScalarKind::kDifference)
    return operand(0) && operand(1);
  return facts.zero_of_zero && operand(0);
}

}  // namespace hone::measure
