#include "measure/array_difference.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "measure/half.h"

namespace hone::measure {
namespace {

// The place of a floating-point number among all of its type, so that neighbours differ by one.
double place_of(const std::byte* element, problem::ElementType type) {
  const auto bytes = problem::element_bytes(type);
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
  const auto size = problem::element_bytes(type);
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
    const auto upto = std::ranges::lower_bound(ArrayDifference::kUlpSteps, steps);
    ++difference.by_ulp.at(static_cast<std::size_t>(upto - ArrayDifference::kUlpSteps.begin()));
  }
  if (difference.elements > 0) difference.mean = sum / static_cast<double>(difference.elements);
  return difference;
}

std::vector<std::pair<std::string, std::int64_t>> ulp_histogram(const ArrayDifference& difference) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  double from = 1;
  for (std::size_t i = 0; i < ArrayDifference::kUlpSteps.size(); ++i) {
    const double upto = ArrayDifference::kUlpSteps.at(i);
    counts.emplace_back(from == upto ? fmt::format("{}", upto) : fmt::format("{}-{}", from, upto),
                        difference.by_ulp.at(i));
    from = upto + 1;
  }
  counts.emplace_back(fmt::format(">{}", from - 1), difference.by_ulp.back());
  return counts;
}

std::string ulp_text(const ArrayDifference& difference) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : ulp_histogram(difference))
    if (count > 0)
      parts.push_back(
          fmt::format("{}: {:.2g} %", name,
                      100 * static_cast<double>(count) / static_cast<double>(difference.elements)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace hone::measure
