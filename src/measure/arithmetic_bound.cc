#include "measure/arithmetic_bound.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::measure {
namespace {

constexpr double kClocksOfCores = 1.5;
constexpr double kClockOfMaker = 1.05;
constexpr double kSumsIn16Bits = 2;

bool is_multiply_add(problem::OperationKind kind) {
  return problem::is_contraction(kind) || kind == problem::OperationKind::kConvolution ||
         kind == problem::OperationKind::kAttention;
}

}  // namespace

double most_flops(const problem::Operation& operation, const device::Peak& peak,
                  bool matrix_units) {
  if (!is_multiply_add(operation.kind)) return 0;
  std::int64_t narrowest = 8, output = 8;
  for (const problem::Operand& operand : operation.operands) {
    if (!problem::is_float(operand.type.element)) return 0;
    const std::int64_t bytes = problem::byte_size(operand.type.element);
    narrowest = std::min(narrowest, bytes);
    if (operand.output) output = std::min(output, bytes);
  }
  if (!matrix_units) return narrowest >= 4 ? peak.gflops * 1e9 * kClocksOfCores : 0;
  if (narrowest < 2) return 0;
  return peak.stated_matrix_gflops * 1e9 * kClockOfMaker * (output < 4 ? kSumsIn16Bits : 1);
}

double least_seconds(const problem::Operation& operation, const device::Peak& peak,
                     bool matrix_units) {
  const double most = most_flops(operation, peak, matrix_units);
  return most > 0 ? problem::flop_count(operation) / most : 0;
}

double seconds_at_peak(const problem::Operation& operation, const device::Peak& peak,
                       bool matrix_units) {
  return least_seconds(operation, peak, matrix_units) *
         (matrix_units ? kClockOfMaker : kClocksOfCores);
}

std::string impossible_time(const problem::Operation& operation, double seconds,
                            double least_seconds) {
  const double flops = problem::flop_count(operation);
  return fmt::format("measured above the device's arithmetic peak: {:.4g} of {:.4g} GFLOP/s",
                     flops / seconds * 1e-9, flops / least_seconds * 1e-9);
}

}  // namespace hone::measure
