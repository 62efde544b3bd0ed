#include "measure/array_difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "measure/half.h"

namespace hone::measure {
namespace {

// The place of a floating-point number among all of its type, so that neighbours differ by one.
double place_of(const std::byte* element, problem::ElementType type) {
  const auto bytes = static_cast<std::size_t>(problem::byte_size(type));
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, bytes);
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  const auto magnitude = static_cast<double>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

}  // namespace

Result<ArrayDifference> difference_of(const problem::Array& got, const problem::Array& expected) {
  if (got.type != expected.type)
    return input_error("{} cannot be compared with {}", problem::to_string(got.type),
                       problem::to_string(expected.type));
  const problem::ElementType type = got.type.element;
  const auto size = static_cast<std::size_t>(problem::byte_size(type));
  ArrayDifference difference;
  double sum = 0;
  for (std::size_t at = 0; at + size <= got.bytes.size(); at += size) {
    const auto* const a = reinterpret_cast<const std::byte*>(got.bytes.data() + at);
    const auto* const b = reinterpret_cast<const std::byte*>(expected.bytes.data() + at);
    const double x = load_element(a, type), y = load_element(b, type);
    ++difference.elements;
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    ++difference.different;
    if (std::isnan(x) || std::isnan(y)) continue;
    const double error = std::abs(x - y);
    sum += error;
    difference.largest = std::max(difference.largest, error);
    if (y != 0)
      difference.largest_relative = std::max(difference.largest_relative, error / std::abs(y));
    const double steps =
        problem::is_float(type) ? std::abs(place_of(a, type) - place_of(b, type)) : error;
    difference.largest_ulp = std::max(difference.largest_ulp, steps);
  }
  if (difference.elements > 0) difference.mean = sum / static_cast<double>(difference.elements);
  return difference;
}

}  // namespace hone::measure
