#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "measure/stated_elements.h"

namespace hone::measure {
namespace {

using problem::ElementType;
using Operands = std::span<const double>;

// A conversion between floating-point types does not round here, since rounding is what is looked
// for.
double same(double x) {
  return x;
}
double reciprocal_root(double x) {
  return 1 / std::sqrt(x);
}
double larger_or_nan(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
}
double smaller_or_nan(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
}
double sum(double a, double b) {
  return a + b;
}
double difference(double a, double b) {
  return a - b;
}
double product(double a, double b) {
  return a * b;
}
double select(double condition, double a, double b) {
  return condition != 0 ? a : b;
}

template <class... Operand>
struct Function {
  std::string_view name;
  double (*of)(Operand...);
};

// Names and meanings: MLIR, dialects arith and math.
constexpr Function<double> kOfOne[] = {
    {"arith.negf", [](double x) { return -x; }},
    {"arith.truncf", same},
    {"arith.extf", same},
    {"arith.fptosi", std::trunc},
    {"math.exp", std::exp},
    {"math.exp2", std::exp2},
    {"math.expm1", std::expm1},
    {"math.log", std::log},
    {"math.log2", std::log2},
    {"math.log10", std::log10},
    {"math.log1p", std::log1p},
    {"math.sin", std::sin},
    {"math.cos", std::cos},
    {"math.tan", std::tan},
    {"math.atan", std::atan},
    {"math.tanh", std::tanh},
    {"math.erf", std::erf},
    {"math.sqrt", std::sqrt},
    {"math.rsqrt", reciprocal_root},
    {"math.absf", std::abs},
    {"math.floor", std::floor},
    {"math.ceil", std::ceil},
    {"math.trunc", std::trunc},
    {"math.round", std::round},
    {"math.roundeven", std::nearbyint},
};
constexpr Function<double, double> kOfTwo[] = {
    {"arith.addf", sum},
    {"arith.addi", sum},
    {"arith.subf", difference},
    {"arith.subi", difference},
    {"arith.mulf", product},
    {"arith.muli", product},
    {"arith.divf", [](double a, double b) { return a / b; }},
    {"arith.maximumf", larger_or_nan},
    {"arith.minimumf", smaller_or_nan},
    {"arith.maxnumf", std::fmax},
    {"arith.minnumf", std::fmin},
    {"arith.maxsi", [](double a, double b) { return std::max(a, b); }},
    {"arith.minsi", [](double a, double b) { return std::min(a, b); }},
    {"math.atan2", std::atan2},
    {"math.powf", std::pow},
};
constexpr Function<double, double, double> kOfThree[] = {{"arith.select", select},
                                                         {"math.fma", std::fma}};

// Applies the function called `name` to the operands; nullopt if there is none.
template <std::size_t N, class... Operand>
std::optional<double> applied(const Function<Operand...> (&functions)[N], std::string_view name,
                              Operand... x) {
  const auto known = std::ranges::find(functions, name, &Function<Operand...>::name);
  return known == std::end(functions) ? std::nullopt : std::optional(known->of(x...));
}

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

// Reads an integer of `type` as unsigned.
double without_sign(double value, ElementType type) {
  const int bits = type == ElementType::kI1 ? 1 : static_cast<int>(8 * problem::byte_size(type));
  return value < 0 ? value + std::ldexp(1.0, bits) : value;
}

// Sums and differences of truth values, which are 0 or 1, are the exclusive or.
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

std::optional<double> converted(std::string_view name, double x, ElementType from, ElementType to) {
  const bool truth = from == ElementType::kI1;
  // As a signed number of one bit, true is -1.
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
  const Operands& x = operands;
  if (!result && x.size() == 1) result = applied(kOfOne, name, x[0]);
  if (!result && x.size() == 2) result = applied(kOfTwo, name, x[0], x[1]);
  if (!result && x.size() == 3) result = applied(kOfThree, name, x[0], x[1], x[2]);
  if (!result)
    return input_error("{} of {} operands is not known in double precision", name, x.size());
  return *result;
}

}  // namespace hone::measure
