#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "measure/stated_elements.h"

namespace hone::measure {
namespace {

using problem::ElementType;
using Operands = std::span<const double>;

struct Function {
  std::string_view name;
  std::size_t operands;
  double (*of)(Operands);
};

// Rounding is what is looked for, so a conversion between floating-point types is none here.
double same(Operands x) {
  return x[0];
}
double larger_or_nan(Operands x) {
  return std::isnan(x[0]) || std::isnan(x[1]) ? NAN : std::max(x[0], x[1]);
}
double smaller_or_nan(Operands x) {
  return std::isnan(x[0]) || std::isnan(x[1]) ? NAN : std::min(x[0], x[1]);
}

// Names and meanings: MLIR, dialects arith and math.
constexpr std::array kFunctions = {
    Function{"arith.addf", 2, [](Operands x) { return x[0] + x[1]; }},
    Function{"arith.addi", 2, [](Operands x) { return x[0] + x[1]; }},
    Function{"arith.subf", 2, [](Operands x) { return x[0] - x[1]; }},
    Function{"arith.subi", 2, [](Operands x) { return x[0] - x[1]; }},
    Function{"arith.mulf", 2, [](Operands x) { return x[0] * x[1]; }},
    Function{"arith.muli", 2, [](Operands x) { return x[0] * x[1]; }},
    Function{"arith.divf", 2, [](Operands x) { return x[0] / x[1]; }},
    Function{"arith.negf", 1, [](Operands x) { return -x[0]; }},
    Function{"arith.maximumf", 2, larger_or_nan},
    Function{"arith.minimumf", 2, smaller_or_nan},
    Function{"arith.maxnumf", 2, [](Operands x) { return std::fmax(x[0], x[1]); }},
    Function{"arith.minnumf", 2, [](Operands x) { return std::fmin(x[0], x[1]); }},
    Function{"arith.maxsi", 2, [](Operands x) { return std::max(x[0], x[1]); }},
    Function{"arith.minsi", 2, [](Operands x) { return std::min(x[0], x[1]); }},
    Function{"arith.select", 3, [](Operands x) { return x[0] != 0 ? x[1] : x[2]; }},
    Function{"arith.truncf", 1, same},
    Function{"arith.extf", 1, same},
    Function{"arith.fptosi", 1, [](Operands x) { return std::trunc(x[0]); }},
    Function{"math.exp", 1, [](Operands x) { return std::exp(x[0]); }},
    Function{"math.exp2", 1, [](Operands x) { return std::exp2(x[0]); }},
    Function{"math.expm1", 1, [](Operands x) { return std::expm1(x[0]); }},
    Function{"math.log", 1, [](Operands x) { return std::log(x[0]); }},
    Function{"math.log2", 1, [](Operands x) { return std::log2(x[0]); }},
    Function{"math.log10", 1, [](Operands x) { return std::log10(x[0]); }},
    Function{"math.log1p", 1, [](Operands x) { return std::log1p(x[0]); }},
    Function{"math.sin", 1, [](Operands x) { return std::sin(x[0]); }},
    Function{"math.cos", 1, [](Operands x) { return std::cos(x[0]); }},
    Function{"math.tan", 1, [](Operands x) { return std::tan(x[0]); }},
    Function{"math.atan", 1, [](Operands x) { return std::atan(x[0]); }},
    Function{"math.atan2", 2, [](Operands x) { return std::atan2(x[0], x[1]); }},
    Function{"math.tanh", 1, [](Operands x) { return std::tanh(x[0]); }},
    Function{"math.erf", 1, [](Operands x) { return std::erf(x[0]); }},
    Function{"math.sqrt", 1, [](Operands x) { return std::sqrt(x[0]); }},
    Function{"math.rsqrt", 1, [](Operands x) { return 1 / std::sqrt(x[0]); }},
    Function{"math.absf", 1, [](Operands x) { return std::abs(x[0]); }},
    Function{"math.floor", 1, [](Operands x) { return std::floor(x[0]); }},
    Function{"math.ceil", 1, [](Operands x) { return std::ceil(x[0]); }},
    Function{"math.trunc", 1, [](Operands x) { return std::trunc(x[0]); }},
    Function{"math.round", 1, [](Operands x) { return std::round(x[0]); }},
    Function{"math.roundeven", 1, [](Operands x) { return std::nearbyint(x[0]); }},
    Function{"math.powf", 2, [](Operands x) { return std::pow(x[0], x[1]); }},
    Function{"math.fma", 3, [](Operands x) { return std::fma(x[0], x[1], x[2]); }},
};

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

// An integer of `type` taken as one without a sign.
double without_sign(double value, ElementType type) {
  const int bits = type == ElementType::kI1 ? 1 : static_cast<int>(8 * problem::byte_size(type));
  return value < 0 ? value + std::ldexp(1.0, bits) : value;
}

// Of truth values, which are 0 or 1, sums and differences are the exclusive or.
std::optional<double> of_truth_values(std::string_view name, Operands x) {
  if (x.size() != 2) return std::nullopt;
  const bool a = x[0] != 0, b = x[1] != 0;
  if (name == "arith.addi" || name == "arith.subi" || name == "arith.xori") return a != b;
  if (name == "arith.muli" || name == "arith.andi") return a && b;
  if (name == "arith.ori") return a || b;
  return std::nullopt;
}

std::optional<double> of_bits(std::string_view name, Operands x) {
  if (x.size() != 2) return std::nullopt;
  const auto a = static_cast<std::int64_t>(x[0]), b = static_cast<std::int64_t>(x[1]);
  if (name == "arith.andi") return static_cast<double>(a & b);
  if (name == "arith.ori") return static_cast<double>(a | b);
  if (name == "arith.xori") return static_cast<double>(a ^ b);
  return std::nullopt;
}

std::optional<double> converted(std::string_view name, double x, ElementType from,
                                ElementType to) {
  const bool truth = from == ElementType::kI1;
  // As a number of one bit with a sign, what is true is -1.
  if (name == "arith.sitofp" || name == "arith.extsi") return truth ? -x : x;
  if (name == "arith.uitofp" || name == "arith.extui") return truth ? x : without_sign(x, from);
  if (name != "arith.trunci") return std::nullopt;
  const int bits = to == ElementType::kI1 ? 1 : static_cast<int>(8 * problem::byte_size(to));
  const double range = std::ldexp(1.0, bits);
  const double low = x - range * std::floor(x / range);
  return to == ElementType::kI1 || low < range / 2 ? low : low - range;
}

}  // namespace

Result<double> stated_value(const problem::StatedValue& value, Operands operands,
                            ElementType operand) {
  const std::string_view name = value.operation;
  std::optional<double> result;
  if (operand == ElementType::kI1 && value.type == ElementType::kI1)
    result = of_truth_values(name, operands);
  if (!result && !problem::is_float(operand)) result = of_bits(name, operands);
  if (!result && operands.size() == 1) result = converted(name, operands[0], operand, value.type);
  if (!result && operands.size() == 2 && (name == "arith.cmpf" || name == "arith.cmpi")) {
    const bool unsigned_integers = name == "arith.cmpi" && value.predicate.starts_with("u");
    const auto taken = [&](double x) { return unsigned_integers ? without_sign(x, operand) : x; };
    result = holds(value.predicate, taken(operands[0]), taken(operands[1])) ? 1 : 0;
  }
  if (result) return *result;
  const auto known = std::ranges::find(kFunctions, name, &Function::name);
  if (known == kFunctions.end() || known->operands != operands.size())
    return input_error("{} of {} operands is not known in double precision", name,
                       operands.size());
  return known->of(operands);
}

}  // namespace hone::measure
