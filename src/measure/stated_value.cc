#include <cmath>
#include <optional>
#include <string_view>

#include "measure/stated_elements.h"

namespace hone::measure {
namespace {

using problem::ElementType;
using problem::ScalarKind;
using Operands = std::span<const double>;

// "olt", "ule": of integers the first letter is their sign, of floats whether NaN fails or holds.
bool holds(std::string_view predicate, double a, double b) {
  if (predicate == "true") return true;
  if (predicate == "false") return false;
  const bool unordered = std::isnan(a) || std::isnan(b);
  if (predicate == "ord") return !unordered;
  if (predicate == "uno") return unordered;
  if (predicate.size() == 3) {
    if (unordered) return predicate.front() == 'u';
    predicate.remove_prefix(1);
  }
  if (predicate == "eq") return a == b;
  if (predicate == "ne") return a != b;
  if (predicate == "gt") return a > b;
  if (predicate == "ge") return a >= b;
  return predicate == "lt" ? a < b : a <= b;
}

int bits_of(ElementType type) {
  return type == ElementType::kI1 ? 1 : static_cast<int>(8 * problem::byte_size(type));
}

// Reads an integer of `type` as unsigned.
double without_sign(double value, ElementType type) {
  return value < 0 ? value + std::ldexp(1.0, bits_of(type)) : value;
}

double low_bits(double x, ElementType to) {
  const double range = std::ldexp(1.0, bits_of(to));
  const double low = x - range * std::floor(x / range);
  return to == ElementType::kI1 || low < range / 2 ? low : low - range;
}

// Sums and differences of truth values, which are 0 or 1, are the exclusive or.
std::optional<double> of_truth_values(ScalarKind kind, Operands x) {
  const bool a = x[0] != 0, b = x[1] != 0;
  switch (kind) {
    case ScalarKind::kSum:
    case ScalarKind::kDifference:
    case ScalarKind::kExclusiveOr:
      return a != b;
    case ScalarKind::kProduct:
    case ScalarKind::kAnd:
      return a && b;
    case ScalarKind::kOr:
      return a || b;
    default:
      return std::nullopt;
  }
}

std::optional<double> of_bits(ScalarKind kind, Operands x) {
  const auto a = static_cast<std::int64_t>(x[0]), b = static_cast<std::int64_t>(x[1]);
  if (kind == ScalarKind::kAnd) return static_cast<double>(a & b);
  if (kind == ScalarKind::kOr) return static_cast<double>(a | b);
  if (kind == ScalarKind::kExclusiveOr) return static_cast<double>(a ^ b);
  return std::nullopt;
}

// Operations whose meaning depends on the integers' types.
std::optional<double> of_integers(const problem::StatedValue& value, Operands x, ElementType from) {
  const ScalarKind kind = value.operation.kind();
  const bool truth = from == ElementType::kI1;
  if (kind == ScalarKind::kSignedConversion) return truth ? -x[0] : x[0];  // true is -1
  if (kind == ScalarKind::kUnsignedConversion) return truth ? x[0] : without_sign(x[0], from);
  if (kind == ScalarKind::kTruncation) return low_bits(x[0], value.type);
  if (x.size() != 2) return std::nullopt;
  if (truth && value.type == ElementType::kI1)
    if (const auto result = of_truth_values(kind, x)) return result;
  return of_bits(kind, x);
}

}  // namespace

Result<double> stated_value(const problem::StatedValue& value, Operands operands,
                            ElementType operand) {
  const problem::ScalarFacts& facts = value.operation.facts();
  if (operands.size() == facts.operands && facts.operands > 0) {
    if (facts.kind == ScalarKind::kComparison) {
      const bool integers = !problem::is_float(operand);
      const bool unsigned_integers = integers && value.predicate.starts_with("u");
      const auto taken = [&](double x) { return unsigned_integers ? without_sign(x, operand) : x; };
      return holds(value.predicate, taken(operands[0]), taken(operands[1])) ? 1 : 0;
    }
    if (!problem::is_float(operand))
      if (const auto result = of_integers(value, operands, operand)) return *result;
    if (facts.value != nullptr) return facts.value(operands.data());
  }
  return input_error("{} of {} operands is not known in double precision", value.operation.name(),
                     operands.size());
}

}  // namespace hone::measure
