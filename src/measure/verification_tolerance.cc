#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/half.h"
#include "measure/inputs.h"
#include "measure/rounding.h"
#include "measure/verification.h"

namespace hone::measure {
namespace {

// The candidate's error and the reference's.
constexpr double kSides = 2;

// The smallest number of the type, whose code is 1: values below it round to it, or to zero.
double smallest_step(problem::ElementType type) {
  constexpr std::uint64_t kFirstCode = 1;
  if (type == problem::ElementType::kF64) return 0;
  return load_element(std::as_bytes(std::span(&kFirstCode, 1)).data(), type);
}

Tolerance tolerance_of(const Estimate& estimate, problem::ElementType type, const InputPlan& plan) {
  if (estimate.is_exact()) return {0, 0, fmt::format("exact: {}", plan.basis)};
  Tolerance tolerance{kSides * estimate.absolute, kSides * estimate.relative, {}};
  if (problem::is_float(type))
    tolerance.absolute += smallest_step(type);
  else if (tolerance.absolute < 1)
    tolerance.absolute = 1;  // rounded to an integer: either neighbour
  tolerance.basis = fmt::format(
      "{}; values up to {:.3g}, what two right kernels may differ by: {:.2g} + {:.2g} |expected|",
      plan.basis, estimate.largest(), tolerance.absolute, tolerance.relative);
  return tolerance;
}

}  // namespace

std::vector<Tolerance> tolerances_for(const problem::Dispatch& dispatch, const InputPlan& plan) {
  const problem::Computation computation = problem::computation_of(dispatch);
  const Rounding rounding = estimate_rounding(computation, plan);
  std::vector<Tolerance> tolerances(dispatch.bindings.size());
  for (const problem::Computation::Output& output : computation.outputs) {
    if (output.binding < 0 || static_cast<std::size_t>(output.binding) >= tolerances.size())
      continue;
    const auto binding = static_cast<std::size_t>(output.binding);
    const Tolerance one = tolerance_of(rounding.values[static_cast<std::size_t>(output.value)],
                                       dispatch.bindings[binding].type.element, plan);
    Tolerance& all = tolerances[binding];
    if (one.absolute >= all.absolute || all.basis == Tolerance().basis) all.basis = one.basis;
    all.absolute = std::max(all.absolute, one.absolute);
    all.relative = std::max(all.relative, one.relative);
  }
  return tolerances;
}

}  // namespace hone::measure
