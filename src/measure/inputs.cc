#include "measure/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>

#include "measure/half.h"
#include "measure/reference.h"

namespace hone::measure {
namespace {

using problem::Access;
using problem::Binding;
using problem::BindingUse;
using problem::Dispatch;
using problem::ElementType;
using problem::OperationKind;

// What i8, f16 and bf16 hold with both signs. Large on purpose: sums of hundreds of such products
// need more than the 11 digits of f16, so a kernel that rounds to a narrower type on the way shows,
// and so does saturation of 16-bit intermediates.
constexpr int kMagnitude = 127;
// E5M2 holds integers up to 8, and some tensor cores keep only 14 digits of sums of 8-bit floats.
constexpr int kSmallMagnitude = 4;
// The smallest normal f16 is 2^-14. A conversion in software may give zero for less (IREE's does on
// an x86-64 without F16C), so sums that are narrowed to f16 are multiples of it.
constexpr int kFinestF16Scale = 14;
// Assumed where a loop is known only at run time.
constexpr std::int64_t kUnknownExtent = 4096;
// Of a normal distribution, seven standard deviations leave 1e-12: less than one element in all
// outputs of a long session.
constexpr double kDeviations = 7;

// Factors of one term of the root's sum: 2 for products, 1 for plain sums, 0 where the root is no
// such sum.
int factors_of(OperationKind kind) {
  if (problem::is_contraction(kind) || kind == OperationKind::kConvolution) return 2;
  return kind == OperationKind::kReduction ? 1 : 0;
}

std::int64_t terms_of(const problem::Operation& root) {
  std::int64_t terms = 1;
  for (const problem::Loop& loop : root.loops)
    if (loop.reduction) terms *= loop.size == problem::kDynamic ? kUnknownExtent : loop.size;
  return terms;
}

ElementType accumulation_type(const problem::Operation& root) {
  for (const problem::Operand& operand : root.operands)
    if (operand.output) return operand.type.element;
  return ElementType::kF32;
}

bool all_root_inputs_are_integers(const Dispatch& dispatch) {
  return std::all_of(dispatch.bindings.begin(), dispatch.bindings.end(), [](const Binding& b) {
    return b.use != BindingUse::kRootInput || !problem::is_float(b.type.element);
  });
}

bool is_8_bit_float(ElementType type) {
  return problem::is_float(type) && problem::byte_size(type) == 1;
}

int wanted_magnitude(const Dispatch& dispatch) {
  // Integers cannot be scaled: what is fused behind them would saturate.
  if (!is_bare(dispatch) && all_root_inputs_are_integers(dispatch)) return kSmallMagnitude;
  for (const problem::Operand& operand : dispatch.root.operands)
    if (is_8_bit_float(operand.type.element)) return kSmallMagnitude;
  for (const Binding& binding : dispatch.bindings)
    if (is_8_bit_float(binding.type.element)) return kSmallMagnitude;
  return kMagnitude;
}

bool reads_its_output(const Dispatch& dispatch) {
  return std::any_of(dispatch.bindings.begin(), dispatch.bindings.end(), [](const Binding& b) {
    return b.use == BindingUse::kOutput && b.access == Access::kReadWrite;
  });
}

double power(double base, int exponent) {
  return exponent == 2 ? base * base : base;
}

// The sum of `terms` products of `factors` values, of which only the first may be zero, before
// scaling.
struct Sum {
  int factors;
  double terms;

  double hard_bound(const InputValues& values) const {
    return terms * power(values.magnitude, factors);
  }
  // Mean square of one product.
  double mean_square(const InputValues& values) const {
    return values.density *
           power((values.magnitude + 1.0) * (2.0 * values.magnitude + 1) / 6, factors);
  }
  // Mean of sum |a||b| plus seven standard deviations.
  double likely_bound(const InputValues& values) const {
    const double mean = values.density * power((values.magnitude + 1.0) / 2, factors);
    const double variance = std::max(0.0, mean_square(values) - mean * mean);
    return std::min(hard_bound(values), terms * mean + kDeviations * std::sqrt(terms * variance));
  }
};

// The power of two that sums are divided by to be of unit size.
int unit_scale(const Sum& sum, const InputValues& values) {
  const double deviation = std::sqrt(sum.terms * sum.mean_square(values));
  return std::max(0, static_cast<int>(std::lround(std::log2(deviation))));
}

bool narrows_to_f16(const Dispatch& dispatch, ElementType accumulation) {
  return accumulation != ElementType::kF16 &&
         std::any_of(dispatch.bindings.begin(), dispatch.bindings.end(), [](const Binding& b) {
           return b.use == BindingUse::kOutput && b.type.element == ElementType::kF16;
         });
}

// The largest magnitude, or below 1 the largest density, whose sums fit into 2^digits. `before`:
// outputs are added to, and hold one magnitude already; or they are filled with `fill`.
InputValues fitting_values(const Sum& sum, int digits, int magnitude, bool before, double fill) {
  const double most = std::ldexp(1.0, digits);
  InputValues values{InputValues::Kind::kIntegers, magnitude, 0, 1, 1};
  const auto held = [&] { return before ? values.magnitude : std::abs(fill); };
  while (values.magnitude > 1 && sum.hard_bound(values) + held() > most) --values.magnitude;
  if (sum.hard_bound(values) + held() > most)
    while (sum.likely_bound(values) + held() > most) values.density *= 0.98;
  return values;
}

std::int64_t index_limit(const Dispatch& dispatch) {
  std::int64_t limit = problem::kDynamic;
  for (const Binding& binding : dispatch.bindings) {
    if (binding.use == BindingUse::kIndexInput) continue;
    for (const std::int64_t extent : binding.type.shape)
      if (extent > 1 && (limit < 0 || extent < limit)) limit = extent;
  }
  return std::max<std::int64_t>(1, limit);
}

std::string basis_of(const InputPlan& plan, const InputValues& values, ElementType accumulation,
                     int digits) {
  const std::string what = values.density < 1
                               ? fmt::format("-1, 0 and 1 ({:.0f} % not 0)", 100 * values.density)
                               : fmt::format("integers of magnitude 1 to {}", values.magnitude);
  return fmt::format("sums of {} terms of {} stay within 2^{}, exact in {}", plan.terms, what,
                     digits, problem::name_of(accumulation));
}

// Binary digits behind the point of what the sums begin at: they leave less room for the sums.
int digits_behind_point(double fill) {
  int digits = 0;
  while (std::isfinite(fill) && std::ldexp(fill, digits) != std::rint(std::ldexp(fill, digits)))
    ++digits;
  return digits;
}

// The sums begin at the fill's constant: on the finer of its grid and that of the products, which
// are 2^-scale apart, there has to be room for both.
void add_fill(double fill, int scale, int digits, InputPlan& plan) {
  const int grid = std::max(scale, digits_behind_point(fill));
  const bool fits = std::isfinite(fill) &&
                    std::ldexp(plan.absolute_sum + std::abs(fill), grid) <= std::ldexp(1.0, digits);
  if (!fits) plan.basis = fmt::format("sums that begin at {} are rounded", fill);
  plan.exact &= fits;
  if (std::isfinite(fill)) plan.absolute_sum += std::abs(fill);
}

}  // namespace

InputPlan plan_inputs(const Dispatch& dispatch) {
  InputPlan plan;
  const InputValues indices{InputValues::Kind::kIndices, 1, 0, 1, index_limit(dispatch)};
  const int factors = factors_of(dispatch.root.kind);
  plan.terms = terms_of(dispatch.root);
  for (const Binding& binding : dispatch.bindings)
    plan.bindings.push_back(binding.use == BindingUse::kIndexInput ? indices : InputValues{});
  if (factors == 0) {
    plan.basis =
        fmt::format("{} is no sum of products: real inputs", problem::name_of(dispatch.root.kind));
    plan.absolute_sum = static_cast<double>(plan.terms);
    plan.typical_sum = std::sqrt(plan.absolute_sum);
    return plan;
  }

  const ElementType accumulation = accumulation_type(dispatch.root);
  const int digits = significand_digits(accumulation);
  const Sum sum{factors, static_cast<double>(plan.terms)};
  const double fill = std::isfinite(dispatch.fill_value) ? dispatch.fill_value : 0;
  const int room = digits - digits_behind_point(fill);
  // Where sums are rounded after all, small ones keep the tolerance below what a missing fill
  // makes.
  const bool fits = fill == 0 || std::ldexp(1.0, room) > sum.terms + std::abs(fill);
  InputValues values =
      fits ? fitting_values(sum, room, wanted_magnitude(dispatch), reads_its_output(dispatch), fill)
           : fitting_values(sum, digits, kSmallMagnitude, false, 0);
  const bool scaled = !is_bare(dispatch) && !all_root_inputs_are_integers(dispatch);
  const int finest = narrows_to_f16(dispatch, accumulation) ? kFinestF16Scale : INT_MAX;
  while (scaled && values.magnitude > 1 && unit_scale(sum, values) > finest) --values.magnitude;
  const double deviation = std::sqrt(sum.terms * sum.mean_square(values));
  const int scale = scaled ? unit_scale(sum, values) : 0;
  plan.exact = true;
  plan.basis = basis_of(plan, values, accumulation, digits);
  plan.typical_sum = std::ldexp(deviation, -scale);
  plan.absolute_sum = std::ldexp(sum.likely_bound(values), -scale);
  if (dispatch.fill_value != 0) add_fill(dispatch.fill_value, scale, digits, plan);

  int root_inputs = 0;
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    const Binding& binding = dispatch.bindings[i];
    if (binding.use == BindingUse::kRootInput) {
      // The scale is shared between the factors, so that narrow exponents hold it.
      const int share = factors == 1 ? scale : root_inputs == 0 ? (scale + 1) / 2 : scale / 2;
      plan.bindings[i] = values;
      plan.bindings[i].exponent = problem::is_float(binding.type.element) ? -share : 0;
      // Zeros in one factor are enough, and rows of it then prove the bound.
      values.density = 1;
      ++root_inputs;
    } else if (binding.use == BindingUse::kOutput) {
      plan.bindings[i] = values;
      plan.bindings[i].density = 1;  // also where no root input came before
      plan.bindings[i].exponent = problem::is_float(binding.type.element) ? -scale : 0;
    }
  }
  return plan;
}

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

std::uint64_t binding_seed(std::uint64_t run_seed, std::size_t binding) {
  // Through the generator twice: seeds that differ by one must not give streams shifted by one.
  return random_bits(random_bits(run_seed, 0x686F6E65), binding);
}

namespace {

// [0, 1) with 24 bits, and [0, below) from the upper bits (Lemire's multiplication; the bias of
// below / 2^32 does not matter here).
double unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 40) / 16777216.0;
}
std::uint64_t below(std::uint64_t bits, std::uint64_t limit) {
  return ((bits >> 32) * limit) >> 32;
}

double value_at(const InputValues& values, bool is_float, std::uint64_t bits) {
  switch (values.kind) {
    case InputValues::Kind::kIndices:
      return static_cast<double>(below(bits, static_cast<std::uint64_t>(values.limit)));
    case InputValues::Kind::kReals: {
      const double sign = (bits & 1) != 0 ? -1 : 1;
      // An integer of unit size would be 1 only.
      if (!is_float) return sign * static_cast<double>(1 + below(bits, kSmallMagnitude));
      return sign * (0.5 + unit_interval(bits));
    }
    case InputValues::Kind::kIntegers:
      break;
  }
  const double sign = (bits & 1) != 0 ? -1 : 1;
  // Bits 1..24 decide about zero, the upper 32 about the magnitude: independent of each other.
  if (static_cast<double>((bits >> 1) & 0xFFFFFF) >= values.density * 16777216.0) return 0;
  const auto magnitude = 1 + below(bits, static_cast<std::uint64_t>(values.magnitude));
  return sign * std::ldexp(static_cast<double>(magnitude), values.exponent);
}

}  // namespace

void fill_input(std::span<std::byte> bytes, ElementType type, const InputValues& values,
                std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(problem::byte_size(type));
  const std::size_t count = bytes.size() / size;
  const bool is_float = problem::is_float(type);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random_bits(seed, i);
    // Every value of a truth value but 0 is 1: draw it.
    const double value =
        type == ElementType::kI1 ? static_cast<double>(bits & 1) : value_at(values, is_float, bits);
    store_element(bytes.data() + i * size, type, value);
  }
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(count * size), bytes.end(), std::byte{0});
}

}  // namespace hone::measure
