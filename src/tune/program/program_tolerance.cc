#include "tune/program/program_tolerance.h"

#include <algorithm>
#include <cmath>

#include "measure/half.h"

namespace hone::tune {
namespace {

double relative_tolerance(problem::ElementType type) {
  switch (type) {
    case problem::ElementType::kF16:
      return 1e-3;
    case problem::ElementType::kBF16:
      return 1e-2;
    case problem::ElementType::kF8E4M3:
    case problem::ElementType::kF8E5M2:
      return 1e-1;
    case problem::ElementType::kF32:
      return 1e-4;
    case problem::ElementType::kF64:
      return 1e-8;
    default:
      return 0;
  }
}

double largest_magnitude(const problem::Array& array) {
  double largest = 0;
  for (const double value : measure::values_of(array))
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

measure::Tolerance program_tolerance(const problem::Array& expected) {
  const double relative = relative_tolerance(expected.type.element);
  if (relative == 0) return {0, 0, "exact: integers"};
  const double largest = largest_magnitude(expected);
  return {relative * largest, relative,
          fmt::format("{} of the largest element ({:.3g}), as iree-run-module allows for {}",
                      relative, largest, problem::name_of(expected.type.element))};
}

measure::Tolerance rounding_tolerance(const problem::Array& expected) {
  const problem::ElementType type = expected.type.element;
  measure::Tolerance tolerance = program_tolerance(expected);
  if (type != problem::ElementType::kF32 && type != problem::ElementType::kF64) return tolerance;
  tolerance.absolute /= 10;
  tolerance.relative /= 10;
  tolerance.basis = fmt::format("{:.2g} of the largest element ({:.3g})", tolerance.relative,
                                largest_magnitude(expected));
  return tolerance;
}

}  // namespace hone::tune
