#include "measure/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "measure/half.h"
#include "measure/parts.h"
#include "measure/rounding.h"

namespace hone::measure {

namespace {

using problem::ElementType;
using problem::TensorType;

std::vector<std::int64_t> index_of(std::int64_t flat, const TensorType& type) {
  std::vector<std::int64_t> index(type.shape.size());
  for (std::size_t d = index.size(); d-- > 0;) {
    index[d] = flat % type.shape[d];
    flat /= type.shape[d];
  }
  return index;
}

void add_bad(Comparison& comparison, std::int64_t flat, const TensorType& type, double got,
             double expected) {
  if (comparison.bad++ > 0) return;
  comparison.first_bad = index_of(flat, type);
  comparison.got = got;
  comparison.expected = expected;
}

void add_error(Comparison& comparison, double error, double expected) {
  if (error > comparison.worst_error) comparison.worst_error = error;
  // Divides only for a new worst error, which is rare.
  const double size = std::abs(expected);
  if (size != 0 && std::isfinite(size) && error > comparison.worst_relative * size)
    comparison.worst_relative = std::max(comparison.worst_relative, error / size);
}

// Merges the comparisons of two parts of an array; `later` lies behind the other.
void add_part(Comparison& comparison, Comparison later) {
  if (comparison.bad == 0 && later.bad > 0) {
    comparison.first_bad = std::move(later.first_bad);
    comparison.got = later.got;
    comparison.expected = later.expected;
  }
  comparison.bad += later.bad;
  comparison.nan_count += later.nan_count;
  comparison.worst_error = std::max(comparison.worst_error, later.worst_error);
  comparison.worst_relative = std::max(comparison.worst_relative, later.worst_relative);
}

void finish(Comparison& comparison) {
  comparison.right = comparison.bad == 0;
  if (comparison.elements > 0)
    comparison.share =
        static_cast<double>(comparison.bad) / static_cast<double>(comparison.elements);
}

// A part of two arrays: the elements from `begin` on, of which the first are at `got`, `expected`.
struct Part {
  const std::byte *got, *expected;
  std::int64_t begin, end;
};

template <class Format>
void compare_floats(Format format, Part part, const TensorType& type, const Tolerance& tolerance,
                    Comparison& comparison) {
  constexpr std::size_t kSize = sizeof(typename Format::Bits);
  const std::byte *got = part.got, *expected = part.expected;
  for (std::int64_t i = part.begin; i < part.end; ++i, got += kSize, expected += kSize) {
    const double g = static_cast<double>(decoded(format, got)),
                 e = static_cast<double>(decoded(format, expected));
    if (g == e) continue;  // equal infinities and the two zeros too
    const bool g_nan = std::isnan(g), e_nan = std::isnan(e);
    if (g_nan && e_nan) continue;
    if (g_nan) ++comparison.nan_count;
    const double error = std::abs(g - e);
    if (!g_nan && !e_nan) add_error(comparison, error, e);
    // Written so that NaN fails; an infinity is never near a number.
    const bool near = std::isfinite(g) && std::isfinite(e) &&
                      error <= tolerance.absolute + tolerance.relative * std::abs(e);
    if (!near) add_bad(comparison, i, type, g, e);
  }
}

void compare_integers(Part part, const TensorType& type, const Tolerance& tolerance,
                      Comparison& comparison) {
  const auto size = problem::element_bytes(type.element);
  const std::byte *got = part.got, *expected = part.expected;
  for (std::int64_t i = part.begin; i < part.end; ++i, got += size, expected += size) {
    const std::int64_t g = load_integer(got, type.element),
                       e = load_integer(expected, type.element);
    if (g == e) continue;
    // Unsigned, since the difference of two 64-bit integers may need 65 bits.
    const auto apart = g > e ? static_cast<std::uint64_t>(g) - static_cast<std::uint64_t>(e)
                             : static_cast<std::uint64_t>(e) - static_cast<std::uint64_t>(g);
    const auto error = static_cast<double>(apart), size_of_e = std::abs(static_cast<double>(e));
    add_error(comparison, error, size_of_e);
    if (!(error <= tolerance.absolute + tolerance.relative * size_of_e))
      add_bad(comparison, i, type, static_cast<double>(g), static_cast<double>(e));
  }
}

void compare_part(const Part& part, const TensorType& type, const Tolerance& tolerance,
                  Comparison& comparison) {
  if (!problem::is_float(type.element)) return compare_integers(part, type, tolerance, comparison);
  with_format(type.element,
              [&](auto format) { compare_floats(format, part, type, tolerance, comparison); });
}

// Quiet NaNs with payloads that no operation produces (a generated NaN has an empty payload), and
// for the rest byte patterns that are rare as values.
std::uint64_t pattern_of(ElementType type, int variant) {
  const bool second = variant != 0;
  switch (type) {
    case ElementType::kF16:
      return second ? 0xFF5Au : 0x7EA5u;
    case ElementType::kBF16:
      return second ? 0xFFDAu : 0x7FE5u;
    case ElementType::kF32:
      return second ? 0xFFDA5A5Au : 0x7FE5A5A5u;
    case ElementType::kF64:
      return second ? 0xFFFA5A5A5A5A5A5Aull : 0x7FFDA5A5A5A5A5A5ull;
    case ElementType::kF8E4M3:
    case ElementType::kF8E5M2:
      return second ? 0xFFu : 0x7Fu;
    default:
      return second ? 0x5A5A5A5A5A5A5A5Aull : 0xA5A5A5A5A5A5A5A5ull;
  }
}

}  // namespace

Result<Comparison> compare(std::span<const std::byte> got, std::span<const std::byte> expected,
                           const TensorType& type, const Tolerance& tolerance) {
  if (problem::is_dynamic(type))
    return input_error("cannot compare a tensor of unknown shape: {}", problem::to_string(type));
  Comparison comparison;
  comparison.elements = problem::element_count(type);
  const auto bytes =
      static_cast<std::size_t>(comparison.elements * problem::byte_size(type.element));
  if (got.size() < bytes || expected.size() < bytes)
    return input_error("{} takes {} bytes; the output has {}, the reference {}",
                       problem::to_string(type), bytes, got.size(), expected.size());
  const auto size = problem::element_bytes(type.element);
  const auto elements = static_cast<std::size_t>(comparison.elements);
  for (Comparison& part : in_parts(elements, [&](std::size_t begin, std::size_t end) {
         Comparison compared;
         const std::byte *const g = got.data() + begin * size, *const e =
                                                                   expected.data() + begin * size;
         if (end > begin && std::memcmp(g, e, (end - begin) * size) != 0)
           compare_part({g, e, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)},
                        type, tolerance, compared);
         return compared;
       }))
    add_part(comparison, std::move(part));
  finish(comparison);
  return comparison;
}

std::string describe(const Comparison& comparison) {
  if (comparison.right)
    return comparison.worst_error == 0
               ? std::string("right, no difference")
               : fmt::format("right, largest error {:.2g}", comparison.worst_error);
  return fmt::format("wrong: {} of {} elements ({:.3g} %), first at [{}]: expected {}, got {}",
                     format_count(static_cast<std::uint64_t>(comparison.bad)),
                     format_count(static_cast<std::uint64_t>(comparison.elements)),
                     100 * comparison.share, fmt::join(comparison.first_bad, ", "),
                     comparison.expected, comparison.got);
}

void poison(std::span<std::byte> bytes, ElementType type, int variant) {
  const auto size = problem::element_bytes(type);
  const std::uint64_t pattern = pattern_of(type, variant);
  // Little-endian machines only, as everywhere in hone: the low bytes come first.
  const std::size_t first = std::min(size, bytes.size());
  if (first > 0) std::memcpy(bytes.data(), &pattern, first);
  repeat_first(bytes, first);
}

// Copies the filled bytes behind themselves; `done` stays a multiple of `first`.
void repeat_first(std::span<std::byte> bytes, std::size_t first) {
  if (first == 0) return;
  for (std::size_t done = first; done < bytes.size();) {
    const std::size_t more = std::min(done, bytes.size() - done);
    std::memcpy(bytes.data() + done, bytes.data(), more);
    done += more;
  }
}

void add_written(std::span<const std::byte> bytes, ElementType type, int variant,
                 std::vector<bool>& written) {
  const auto size = problem::element_bytes(type);
  const std::uint64_t pattern = pattern_of(type, variant);
  const std::uint64_t mask = size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
  written.resize(bytes.size() / size);
  in_parts(written.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (written[i]) continue;
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * size, size);
      written[i] = bits != (pattern & mask);
    }
    return true;
  });
}

Result<Comparison> compare_written(const std::vector<bool>& got, const std::vector<bool>& expected,
                                   const TensorType& type) {
  Comparison comparison;
  comparison.elements = problem::element_count(type);
  const auto count = static_cast<std::size_t>(comparison.elements);
  if (problem::is_dynamic(type) || got.size() < count || expected.size() < count)
    return input_error("the written sets of {} have {} and {} elements", problem::to_string(type),
                       got.size(), expected.size());
  for (std::size_t i = 0; i < count; ++i)
    if (got[i] != expected[i])
      add_bad(comparison, static_cast<std::int64_t>(i), type, got[i] ? 1 : 0, expected[i] ? 1 : 0);
  finish(comparison);
  return comparison;
}

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
  // Only dispatches of GPUs are stated.
  const Rounding rounding = estimate_rounding(computation, plan, dispatch.statement.has_value());
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
