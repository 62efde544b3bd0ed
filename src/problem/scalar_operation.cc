#include "problem/scalar_operation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace hone::problem {
namespace {

using enum ScalarKind;
using X = const double*;

constexpr double kEasy = kFunctionRoundings, kHard = kHardFunctionRoundings;

// A conversion between floating-point types does not round here: accuracy is measured against the
// unrounded value.
constexpr auto kSame = [](X x) { return x[0]; };
constexpr auto kAdd = [](X x) { return x[0] + x[1]; };
constexpr auto kSubtract = [](X x) { return x[0] - x[1]; };
constexpr auto kMultiply = [](X x) { return x[0] * x[1]; };

double larger_or_nan(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
}
double smaller_or_nan(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
}

template <double (*function)(double)>
double of(X x) {
  return function(x[0]);
}
template <double (*function)(double, double)>
double of(X x) {
  return function(x[0], x[1]);
}

// Row of a function of one operand.
constexpr ScalarFacts function(std::string_view name, double (*value)(X), CurveFacts facts,
                               int gpu_instructions = 1) {
  return {.name = name,
          .kind = kFunction,
          .operands = 1,
          .value = value,
          .function = facts,
          .gpu_instructions = gpu_instructions};
}

constexpr ScalarFacts conversion(std::string_view name, ScalarKind kind, bool keeps_polynomial,
                                 bool zero_of_zero, double (*value)(X) = nullptr) {
  return {.name = name,
          .kind = kind,
          .operands = 1,
          .value = value,
          .keeps_polynomial = keeps_polynomial,
          .zero_of_zero = zero_of_zero};
}

constexpr ScalarFacts kOperations[] = {
    {.name = "root", .kind = kRoot, .gpu_instructions = 0},
    {.name = "load", .kind = kLoad, .gpu_instructions = 0},
    {.name = "table", .kind = kTable, .gpu_instructions = 0},
    {.name = "reduce", .kind = kReduction},
    {.name = "constant", .kind = kConstant},

    {"arith.addf", kSum, 2, kAdd},
    {"arith.addi", kSum, 2, kAdd},
    {"arith.subf", kDifference, 2, kSubtract},
    {"arith.subi", kDifference, 2, kSubtract},
    {"arith.mulf", kProduct, 2, kMultiply},
    {"arith.muli", kProduct, 2, kMultiply},
    {.name = "arith.divf",
     .kind = kQuotient,
     .operands = 2,
     .value = [](X x) { return x[0] / x[1]; },
     .zero_of_zero = true,
     .gpu_instructions = 10},
    {"math.powf", kPower, 2, of<std::pow>},
    {"math.fma", kMultiplyAdd, 3, [](X x) { return std::fma(x[0], x[1], x[2]); }},

    {"arith.maximumf", kLarger, 2, of<larger_or_nan>},
    {"arith.minimumf", kSmaller, 2, of<smaller_or_nan>},
    {"arith.maxnumf", kLarger, 2, of<std::fmax>},
    {"arith.minnumf", kSmaller, 2, of<std::fmin>},
    {"arith.maxsi", kLarger, 2, of<std::fmax>},
    {"arith.minsi", kSmaller, 2, of<std::fmin>},
    {"arith.maxui", kLarger, 2},
    {"arith.minui", kSmaller, 2},
    {"arith.andi", kAnd, 2},
    {"arith.ori", kOr, 2},
    {"arith.xori", kExclusiveOr, 2},

    {.name = "arith.negf",
     .kind = kNegation,
     .operands = 1,
     .value = [](X x) { return -x[0]; },
     .keeps_polynomial = true,
     .zero_of_zero = true},
    {.name = "math.absf",
     .kind = kMagnitude,
     .operands = 1,
     .value = of<std::abs>,
     .keeps_polynomial = true,
     .zero_of_zero = true},
    {"math.absi", kMagnitude, 1, of<std::abs>},
    {"arith.cmpf", kComparison, 2},
    {"arith.cmpi", kComparison, 2},
    {"arith.select", kSelection, 3, [](X x) { return x[0] != 0 ? x[1] : x[2]; }},

    conversion("arith.extf", kWidening, true, true, kSame),
    conversion("arith.truncf", kNarrowing, false, true, kSame),
    conversion("arith.extsi", kSignedConversion, true, true),
    conversion("arith.sitofp", kSignedConversion, true, false),
    conversion("arith.extui", kUnsignedConversion, true, false),
    conversion("arith.uitofp", kUnsignedConversion, true, false),
    conversion("arith.index_cast", kIndexConversion, false, false),
    conversion("arith.index_castui", kIndexConversion, false, false),
    conversion("arith.trunci", kTruncation, false, false),

    {"arith.fptosi", kToInteger, 1, of<std::trunc>},
    {"arith.fptoui", kToInteger, 1},
    {"arith.bitcast", kToInteger, 1},
    {"math.floor", kToInteger, 1, of<std::floor>},
    {"math.ceil", kToInteger, 1, of<std::ceil>},
    {"math.trunc", kToInteger, 1, of<std::trunc>},
    {"math.round", kToInteger, 1, of<std::round>},
    {"math.roundeven", kToInteger, 1, of<std::nearbyint>},

    function("math.exp", of<std::exp>, {Curve::kExponential, kEasy}, 10),
    function("math.exp2", of<std::exp2>, {Curve::kExponential, kEasy}, 10),
    function("math.expm1", of<std::expm1>, {Curve::kShiftedExponential, kEasy}),
    function("math.log", of<std::log>, {Curve::kLogarithm, kEasy, true}, 32),
    function("math.log2", of<std::log2>, {Curve::kLogarithm, kEasy, true}),
    function("math.log10", of<std::log10>, {Curve::kLogarithm, kEasy, true}),
    function("math.log1p", of<std::log1p>, {Curve::kLogarithm, kEasy}),
    {.name = "math.sqrt",
     .kind = kFunction,
     .operands = 1,
     .value = of<std::sqrt>,
     .function = {Curve::kRoot, 1, true},
     .zero_of_zero = true,
     .gpu_instructions = 10},
    function(
        "math.rsqrt", [](X x) { return 1 / std::sqrt(x[0]); },
        {Curve::kReciprocalRoot, kEasy, true}, 4),
    function("math.cbrt", of<std::cbrt>, {Curve::kRoot, kEasy}),
    function("math.tanh", of<std::tanh>, {Curve::kGentle, kHard}, 18),
    function("math.erf", of<std::erf>, {Curve::kErf, kHard}, 33),
    function("math.erfc", of<std::erfc>, {Curve::kErf, kHard}),
    function("math.sin", of<std::sin>, {Curve::kGentle, kEasy, false, true}, 95),
    function("math.cos", of<std::cos>, {Curve::kGentle, kEasy, false, true}, 95),
    function("math.atan", of<std::atan>, {Curve::kGentle, kEasy}),
    function("math.asinh", of<std::asinh>, {Curve::kGentle, kHard}),
    function("math.sinh", of<std::sinh>, {Curve::kHyperbolic, kHard}),
    function("math.cosh", of<std::cosh>, {Curve::kHyperbolic, kHard, false, true}),
    function("math.tan", of<std::tan>, {Curve::kHyperbolic, kHard, false, true}),
    {"math.atan2", kFunction, 2, of<std::atan2>},
};

constexpr ScalarFacts kOfOther{};

}  // namespace

const ScalarFacts& scalar_facts(std::string_view name) {
  const auto* found = std::ranges::find(kOperations, name, &ScalarFacts::name);
  return found == std::end(kOperations) ? kOfOther : *found;
}

bool is_scalar_operation(std::string_view name) {
  return name.starts_with("arith.") || name.starts_with("math.");
}

void to_json(nlohmann::json& json, const ScalarOperation& operation) {
  json = operation.name();
}

void from_json(const nlohmann::json& json, ScalarOperation& operation) {
  operation = json.get<std::string>();
}

}  // namespace hone::problem
