#include "measure/half.h"

#include <algorithm>

namespace hone::measure {

using problem::ElementType;

std::int64_t wrapped(double value) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (!std::isfinite(value)) return 0;
  double rounded = std::nearbyint(value);
  if (rounded >= -kTwoTo63 && rounded < kTwoTo63) return static_cast<std::int64_t>(rounded);
  rounded = std::fmod(rounded, 2 * kTwoTo63);
  if (rounded < 0) rounded += 2 * kTwoTo63;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(rounded));
}

double load_element(const std::byte* from, ElementType type) {
  return with_format(type,
                     [from](auto format) { return static_cast<double>(decoded(format, from)); });
}

void store_element(std::byte* to, ElementType type, double value) {
  with_format(type, [&](auto format) {
    const auto bits = format.encode(value);
    std::memcpy(to, &bits, sizeof bits);
  });
}

std::int64_t load_integer(const std::byte* from, ElementType type) {
  if (problem::is_float(type)) return 0;
  return with_format(
      type, [from](auto format) { return static_cast<std::int64_t>(decoded(format, from)); });
}

void store_integer(std::byte* to, ElementType type, std::int64_t value) {
  if (problem::is_float(type)) return store_element(to, type, static_cast<double>(value));
  if (type == ElementType::kI1) value &= 1;
  // The low bytes come first.
  std::memcpy(to, &value, problem::element_bytes(type));
}

int significand_digits(ElementType type) {
  return with_format(type, [](auto format) { return decltype(format)::kDigits; });
}

int lowest_digit(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFFull;
  const int exponent = static_cast<int>((bits >> 52) & 0x7FF);
  // Subnormal numbers have the exponent of the smallest normal ones, and no leading one.
  const std::uint64_t digits = exponent == 0 ? fraction : fraction | 0x10000000000000ull;
  return std::max(exponent, 1) - 1075 + std::countr_zero(digits);
}

double unit_roundoff(ElementType type) {
  return problem::is_float(type) ? std::ldexp(1.0, -significand_digits(type)) : 0;
}

}  // namespace hone::measure
