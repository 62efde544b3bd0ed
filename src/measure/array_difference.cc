#include "measure/array_difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

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

namespace {

// A form explains a difference if at most this share of it remains.
constexpr double kExplained = 0.02;
// Largest shift to look for, in places.
constexpr std::int64_t kFarthest = 4;
// Products of bf16 and sums in it leave more binary digits than these.
constexpr double kFewestDigits = 5;
constexpr char kNoForm[] = "in no form that hone knows";

// A dimension of an array: elements of one index lie `stride` apart from those of the next.
struct Axis {
  std::int64_t extent = 1, stride = 1;
  std::int64_t index(std::int64_t flat) const { return flat / stride % extent; }
};

class Difference {
 public:
  Difference(std::vector<double> got, std::vector<double> expected,
             const std::vector<std::int64_t>& shape, const Tolerance& tolerance)
      : got_(std::move(got)), expected_(std::move(expected)), tolerance_(tolerance) {
    std::int64_t stride = 1;
    for (auto extent = shape.rbegin(); extent != shape.rend(); stride *= *extent++)
      axes_.insert(axes_.begin(), Axis{*extent, stride});
    squared_difference_ = squares_of([&](std::size_t i) { return got_[i] - expected_[i]; });
  }

  DifferenceForm form() const {
    if (const std::int64_t count = nan_count(); count > 0)
      return {DifferenceKind::kNaN, fmt::format("{} elements are NaN", count)};
    if (auto part = this->part()) return {DifferenceKind::kPart, "only in " + std::move(*part)};
    // Sums that an infinite element decides have no form.
    if (!std::isfinite(squared_difference_)) return {DifferenceKind::kNone, kNoForm};
    for (std::size_t d = 0; d < axes_.size(); ++d)
      for (std::int64_t by = -kFarthest; by <= kFarthest; ++by)
        if (is_shifted(axes_[d], by))
          return {DifferenceKind::kShift,
                  fmt::format("each element is the one {} places {} along dimension {}",
                              std::abs(by), by > 0 ? "further" : "before", d)};
    if (const auto factor = this->factor())
      return {DifferenceKind::kFactor, fmt::format("{:.4g} times the right values", *factor)};
    for (std::size_t d = 0; d < axes_.size(); ++d)
      if (is_term_of(axes_[d]))
        return {DifferenceKind::kTerm,
                fmt::format("one term for each index of dimension {} is added or missing", d)};
    if (const double digits = agreeing_digits(); digits >= kFewestDigits)
      return {
          DifferenceKind::kRounding,
          fmt::format("{:.0f} binary digits agree, as with narrower types or sums in another order",
                      digits)};
    return {DifferenceKind::kNone, kNoForm};
  }

 private:
  bool is_bad(std::size_t i) const {
    return got_[i] != expected_[i] &&
           !(std::abs(got_[i] - expected_[i]) <=
             tolerance_.absolute + tolerance_.relative * std::abs(expected_[i]));
  }

  std::int64_t nan_count() const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < got_.size(); ++i)
      count += std::isnan(got_[i]) && !std::isnan(expected_[i]);
    return count;
  }

  // "[0:8, 0:64]": the smallest block that holds all wrong elements, if it is at most half of a
  // dimension.
  std::optional<std::string> part() const {
    std::vector<std::string> ranges;
    bool is_part = false;
    for (const Axis& axis : axes_) {
      std::int64_t first = axis.extent, last = -1;
      for (std::size_t i = 0; i < got_.size(); ++i) {
        if (!is_bad(i)) continue;
        first = std::min(first, axis.index(static_cast<std::int64_t>(i)));
        last = std::max(last, axis.index(static_cast<std::int64_t>(i)));
      }
      is_part = is_part || (last >= first && 2 * (last - first + 1) <= axis.extent);
      ranges.push_back(fmt::format("{}:{}", first, last + 1));
    }
    if (!is_part) return std::nullopt;
    return fmt::format("[{}]", fmt::join(ranges, ", "));
  }

  bool is_shifted(const Axis& axis, std::int64_t by) const {
    // A few elements may agree by chance.
    if (by == 0 || axis.extent <= 2 * kFarthest) return false;
    double left = 0;
    for (std::size_t i = 0; i < got_.size() && is_explained(left); ++i) {
      const auto flat = static_cast<std::int64_t>(i);
      const std::int64_t from = axis.index(flat) + by;
      if (from < 0 || from >= axis.extent) continue;
      const double error = got_[i] - expected_[static_cast<std::size_t>(flat + by * axis.stride)];
      left += error * error;
    }
    return is_explained(left);
  }

  // Computes the factor by least squares.
  std::optional<double> factor() const {
    const double squares = expected_times(expected_);
    if (squares == 0) return std::nullopt;
    const double factor = expected_times(got_) / squares;
    if (!is_explained(squares_of([&](std::size_t i) { return got_[i] - factor * expected_[i]; })))
      return std::nullopt;
    return factor;
  }

  bool is_term_of(const Axis& axis) const {
    const auto others = static_cast<double>(got_.size()) / static_cast<double>(axis.extent);
    if (others < 2) return false;
    std::vector<double> mean(static_cast<std::size_t>(axis.extent));
    const auto at = [&](std::size_t i) {
      return static_cast<std::size_t>(axis.index(static_cast<std::int64_t>(i)));
    };
    for (std::size_t i = 0; i < got_.size(); ++i) mean[at(i)] += (got_[i] - expected_[i]) / others;
    return is_explained(
        squares_of([&](std::size_t i) { return got_[i] - expected_[i] - mean[at(i)]; }));
  }

  double agreeing_digits() const {
    return 0.5 * std::log2(expected_times(expected_) / squared_difference_);
  }

  double expected_times(const std::vector<double>& values) const {
    return std::inner_product(expected_.begin(), expected_.end(), values.begin(), 0.0);
  }

  // Sum of the squares of `error_of(i)` over all elements.
  template <class ErrorOf>
  double squares_of(const ErrorOf& error_of) const {
    double squares = 0;
    for (std::size_t i = 0; i < got_.size(); ++i) {
      const double error = error_of(i);
      squares += error * error;
    }
    return squares;
  }

  // Whether a form explains the difference if this sum of squares remains.
  bool is_explained(double left) const {
    return left <= kExplained * kExplained * squared_difference_;
  }

  std::vector<double> got_, expected_;
  std::vector<Axis> axes_;
  Tolerance tolerance_;
  double squared_difference_ = 0;  // over all elements
};

}  // namespace

std::string_view name_of(DifferenceKind kind) {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 7> kNames = {"NaN",  "part",     "shift", "factor",
                                                      "term", "rounding", "none"};
  return kNames.at(static_cast<std::size_t>(kind));
}

Result<DifferenceForm> form_of_difference(const problem::Array& got, const problem::Array& expected,
                                          const Tolerance& tolerance) {
  if (got.type != expected.type)
    return input_error("{} is no {}", problem::to_string(got.type),
                       problem::to_string(expected.type));
  return Difference(values_of(got), values_of(expected), expected.type.shape, tolerance).form();
}

}  // namespace hone::measure
