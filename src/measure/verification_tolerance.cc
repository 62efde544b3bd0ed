#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "measure/half.h"
#include "measure/inputs.h"
#include "measure/verification.h"

namespace hone::measure {
namespace {

using problem::ElementType;

// Multiples of the unit roundoff that a polynomial for exp, erf or tanh may be off by, range
// reduction included; libm's own tables of errors stay below 4 (glibc manual, "Errors in Math
// Functions"), compilers' vector versions are looser.
constexpr int kMathSteps = 8;
// For an operation that is not told apart, such as a softmax.
constexpr int kUnknownSteps = 16;
// Sums lie within six standard deviations.
constexpr double kLargestDeviation = 6;
constexpr double kLambda = 3;

struct Epilogue {
  int steps = 0;            // roundings, weighted
  bool reduces = false;     // sums up many values once more
  bool arithmetic = false;  // more than moving and converting values
  bool floats = false;      // computes in floating point
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Conversions between types are exact, or one correct rounding that every kernel makes alike.
bool is_conversion(std::string_view name) {
  return is_one_of(name, {"arith.extf", "arith.truncf", "arith.extsi", "arith.extui",
                          "arith.trunci", "arith.sitofp", "arith.uitofp", "arith.bitcast"});
}

bool is_movement(std::string_view name) {
  return is_one_of(
      name, {"fill", "linalg.fill", "copy", "transpose", "broadcast", "pad", "pack", "unpack"});
}

void add_body(std::string_view body, Epilogue& epilogue) {
  while (!body.empty()) {
    const auto comma = body.find(", ");
    const std::string_view name = body.substr(0, comma);
    body = comma == std::string_view::npos ? std::string_view{} : body.substr(comma + 2);
    if (is_conversion(name)) continue;
    epilogue.arithmetic = true;
    const bool math = !name.starts_with("arith.");
    epilogue.steps += math ? kMathSteps : 1;
    epilogue.floats |= math || name.ends_with('f') || name.starts_with("arith.fpto");
  }
}

Epilogue epilogue_of(const problem::Dispatch& dispatch) {
  Epilogue epilogue;
  for (const std::string& fused : dispatch.fused) {
    const std::string_view text = fused;
    const auto open = text.find('(');
    const std::string_view name = text.substr(0, open);
    if (is_movement(name)) continue;
    if (open != std::string_view::npos && text.ends_with(')') &&
        (name == "elementwise" || name == "reduction")) {
      add_body(text.substr(open + 1, text.size() - open - 2), epilogue);
      epilogue.reduces |= name == "reduction";
      epilogue.arithmetic |= epilogue.reduces;
      continue;
    }
    epilogue.steps += kUnknownSteps;
    epilogue.reduces = epilogue.arithmetic = epilogue.floats = true;
  }
  return epilogue;
}

ElementType accumulation_type(const problem::Dispatch& dispatch) {
  for (const problem::Operand& operand : dispatch.root.operands)
    if (operand.output) return operand.type.element;
  return ElementType::kF32;
}

// The coarsest type among the outputs.
ElementType output_type(const problem::Dispatch& dispatch, ElementType fallback) {
  bool found = false;
  ElementType coarsest = fallback;
  for (const problem::Binding& binding : dispatch.bindings) {
    if (binding.use != problem::BindingUse::kOutput) continue;
    const ElementType type = binding.type.element;
    if (!found || unit_roundoff(type) > unit_roundoff(coarsest)) coarsest = type;
    found = true;
  }
  return coarsest;
}

// Longest sum that a reduction around the root may form: over one of the outputs' extents, or all
// of them.
double longest_extent(const problem::Dispatch& dispatch) {
  double longest = 1;
  for (const problem::Loop& loop : dispatch.root.loops)
    if (!loop.reduction) longest *= std::max<double>(1, static_cast<double>(loop.size));
  return longest;
}

}  // namespace

Tolerance tolerance_for(const problem::Dispatch& dispatch) {
  return tolerance_for(dispatch, plan_inputs(dispatch));
}

Tolerance tolerance_for(const problem::Dispatch& dispatch, const InputPlan& plan) {
  const Epilogue epilogue = epilogue_of(dispatch);
  const ElementType accumulation = accumulation_type(dispatch);
  const ElementType output = output_type(dispatch, accumulation);
  if (plan.exact && !epilogue.arithmetic && dispatch.root_operations <= 1)
    return {0, 0, fmt::format("exact: {}", plan.basis)};

  const bool integers = !problem::is_float(accumulation) && !problem::is_float(output);
  if (integers && plan.exact && !epilogue.floats)
    return {0, 0, "exact: integer arithmetic throughout"};

  // Integers that are scaled in floating point behind the root are scaled in f32.
  const double u = problem::is_float(accumulation) ? unit_roundoff(accumulation)
                                                   : unit_roundoff(ElementType::kF32);
  const double growth = plan.exact ? kLambda : std::sqrt(static_cast<double>(plan.terms));
  const double root =
      problem::is_float(accumulation) ? 2 * kLambda * growth * u * plan.absolute_sum : 0;
  double steps = epilogue.steps;
  if (epilogue.reduces || dispatch.root_operations > 1)
    steps += kLambda * std::sqrt(longest_extent(dispatch));
  const double size = kLargestDeviation * plan.typical_sum + plan.largest_fused_input;
  const double u_out = unit_roundoff(output);
  const bool narrows = u_out > u;

  Tolerance tolerance;
  tolerance.absolute = root + 2 * steps * u * size + (narrows ? 2 * u_out * size : 0);
  tolerance.relative = 2 * steps * u * (1 + size) + (narrows ? 4 * u_out : 0);
  if (!problem::is_float(output))
    tolerance.absolute = 1;  // rounded to an integer: either neighbour
  if (!problem::is_float(output)) tolerance.relative = 0;
  tolerance.basis = fmt::format(
      "sums of {} terms (|a||b| up to {:.3g}) and {:.0f} roundings behind them, of values up to "
      "{:.3g}, in {}{}: {:.2g} + {:.2g} |expected|",
      plan.terms, plan.absolute_sum, steps, size, problem::name_of(accumulation),
      narrows || !problem::is_float(output)
          ? fmt::format(", then one rounding to {}", problem::name_of(output))
          : "",
      tolerance.absolute, tolerance.relative);
  return tolerance;
}

}  // namespace hone::measure
