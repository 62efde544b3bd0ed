#include "tune/program_outputs.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "measure/half.h"
#include "measure/verification.h"

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
  const std::size_t size = static_cast<std::size_t>(problem::byte_size(array.type.element));
  double largest = 0;
  for (std::size_t at = 0; at + size <= array.bytes.size(); at += size) {
    const double value = measure::load_element(
        reinterpret_cast<const std::byte*>(array.bytes.data() + at), array.type.element);
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

}  // namespace

Result<std::string> difference_of_outputs(const std::vector<problem::Array>& outputs,
                                          const std::vector<problem::Array>& expected) {
  if (outputs.size() != expected.size())
    return input_error("{} results, not {}", outputs.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const problem::TensorType& type = expected[i].type;
    if (outputs[i].type != type)
      return input_error("result {} is {}, not {}", i, problem::to_string(outputs[i].type),
                         problem::to_string(type));
    const double relative = relative_tolerance(type.element);
    const measure::Tolerance tolerance{relative * largest_magnitude(expected[i]), relative, ""};
    HONE_ASSIGN(const measure::Comparison comparison,
                measure::compare(std::as_bytes(std::span(outputs[i].bytes)),
                                 std::as_bytes(std::span(expected[i].bytes)), type, tolerance));
    if (!comparison.right) return fmt::format("result {} is {}", i, measure::describe(comparison));
  }
  return std::string();
}

}  // namespace hone::tune
