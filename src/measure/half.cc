#include "measure/half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace hone::measure {
namespace {

using problem::ElementType;

// A floating-point format of at most 16 bits. kFinite: the code above the largest value is NaN, and
// there is no infinity (E4M3FN).
template <int kExponentBits, int kMantissaBits, bool kFinite = false>
struct Format {
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kLowestExponent = 1 - kBias;
  static constexpr std::uint64_t kSign = std::uint64_t{1} << (kExponentBits + kMantissaBits);
  static constexpr std::uint64_t kInfinity = ((std::uint64_t{1} << kExponentBits) - 1)
                                             << kMantissaBits;
  static constexpr std::uint64_t kNan =
      kFinite ? kSign - 1 : kInfinity | (std::uint64_t{1} << (kMantissaBits - 1));
  static constexpr std::uint64_t kOverflow = kFinite ? kNan : kInfinity;
  static constexpr double kSmallest = std::bit_cast<double>(
      static_cast<std::uint64_t>(1023 + kLowestExponent - kMantissaBits) << 52);

  static double decode(std::uint64_t bits) {
    const std::uint64_t magnitude = bits & (kSign - 1);
    const double sign = (bits & kSign) != 0 ? -1.0 : 1.0;
    if (kFinite ? magnitude == kNan : magnitude > kInfinity)
      return std::numeric_limits<double>::quiet_NaN();
    if (!kFinite && magnitude == kInfinity) return sign * std::numeric_limits<double>::infinity();
    if (magnitude >> kMantissaBits == 0) return sign * kSmallest * static_cast<double>(magnitude);
    const std::uint64_t wide =
        (magnitude << (52 - kMantissaBits)) + (static_cast<std::uint64_t>(1023 - kBias) << 52);
    return sign * std::bit_cast<double>(wide);
  }

  static std::uint64_t encode(double value) {
    const auto wide = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t sign = (wide >> 63) != 0 ? kSign : 0;
    if (std::isnan(value)) return sign | kNan;
    const int exponent = static_cast<int>((wide >> 52) & 0x7FF) - 1023;
    const std::uint64_t mantissa = (wide & 0xFFFFFFFFFFFFFull) | 0x10000000000000ull;
    int shift = 52 - kMantissaBits;
    if (exponent < kLowestExponent) shift += kLowestExponent - exponent;
    if (shift > 53) return sign;  // below half of the smallest value; zero comes here too
    const std::uint64_t remainder = mantissa & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t tie = std::uint64_t{1} << (shift - 1);
    std::uint64_t code = mantissa >> shift;
    if (remainder > tie || (remainder == tie && (code & 1) != 0)) ++code;
    // The leading one adds one to the exponent field; a carry out of the mantissa another.
    if (exponent > kLowestExponent)
      code += static_cast<std::uint64_t>(exponent - kLowestExponent) << kMantissaBits;
    return sign | (code < kOverflow ? code : kOverflow);
  }
};

using F16 = Format<5, 10>;
using BF16 = Format<8, 7>;
using F8E4M3 = Format<4, 3, true>;
using F8E5M2 = Format<5, 2>;

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// The value modulo 2^64, as two's complement.
std::int64_t wrapped(double value) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (!std::isfinite(value)) return 0;
  double rounded = std::nearbyint(value);
  if (rounded >= -kTwoTo63 && rounded < kTwoTo63) return static_cast<std::int64_t>(rounded);
  rounded = std::fmod(rounded, 2 * kTwoTo63);
  if (rounded < 0) rounded += 2 * kTwoTo63;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(rounded));
}

template <class T>
void convert(std::span<const std::byte> from, ElementType type, std::span<T> to) {
  const auto size = static_cast<std::size_t>(problem::byte_size(type));
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<T>(load_element(from.data() + i * size, type));
}

}  // namespace

double from_f16(std::uint16_t bits) {
  return F16::decode(bits);
}
double from_bf16(std::uint16_t bits) {
  return BF16::decode(bits);
}
double from_f8e4m3(std::uint8_t bits) {
  return F8E4M3::decode(bits);
}
double from_f8e5m2(std::uint8_t bits) {
  return F8E5M2::decode(bits);
}
std::uint16_t to_f16(double value) {
  return static_cast<std::uint16_t>(F16::encode(value));
}
std::uint16_t to_bf16(double value) {
  return static_cast<std::uint16_t>(BF16::encode(value));
}
std::uint8_t to_f8e4m3(double value) {
  return static_cast<std::uint8_t>(F8E4M3::encode(value));
}
std::uint8_t to_f8e5m2(double value) {
  return static_cast<std::uint8_t>(F8E5M2::encode(value));
}

double load_element(const std::byte* from, ElementType type) {
  switch (type) {
    case ElementType::kF8E4M3:
      return from_f8e4m3(load<std::uint8_t>(from));
    case ElementType::kF8E5M2:
      return from_f8e5m2(load<std::uint8_t>(from));
    case ElementType::kF16:
      return from_f16(load<std::uint16_t>(from));
    case ElementType::kBF16:
      return from_bf16(load<std::uint16_t>(from));
    case ElementType::kF32:
      return load<float>(from);
    case ElementType::kF64:
      return load<double>(from);
    default:
      return static_cast<double>(load_integer(from, type));
  }
}

void store_element(std::byte* to, ElementType type, double value) {
  switch (type) {
    case ElementType::kF8E4M3:
      return store(to, to_f8e4m3(value));
    case ElementType::kF8E5M2:
      return store(to, to_f8e5m2(value));
    case ElementType::kF16:
      return store(to, to_f16(value));
    case ElementType::kBF16:
      return store(to, to_bf16(value));
    case ElementType::kF32:
      return store(to, static_cast<float>(value));
    case ElementType::kF64:
      return store(to, value);
    case ElementType::kI1:
      return store(to, static_cast<std::uint8_t>(value != 0));
    default:
      return store_integer(to, type, wrapped(value));
  }
}

std::int64_t load_integer(const std::byte* from, ElementType type) {
  switch (type) {
    case ElementType::kI1:
      return load<std::uint8_t>(from) != 0 ? 1 : 0;
    case ElementType::kI8:
      return load<std::int8_t>(from);
    case ElementType::kI16:
      return load<std::int16_t>(from);
    case ElementType::kI32:
      return load<std::int32_t>(from);
    case ElementType::kI64:
      return load<std::int64_t>(from);
    default:
      return 0;
  }
}

void store_integer(std::byte* to, ElementType type, std::int64_t value) {
  switch (type) {
    case ElementType::kI1:
      return store(to, static_cast<std::uint8_t>(value & 1));
    case ElementType::kI8:
      return store(to, static_cast<std::int8_t>(value));
    case ElementType::kI16:
      return store(to, static_cast<std::int16_t>(value));
    case ElementType::kI32:
      return store(to, static_cast<std::int32_t>(value));
    case ElementType::kI64:
      return store(to, value);
    default:
      return store_element(to, type, static_cast<double>(value));
  }
}

void to_doubles(std::span<const std::byte> from, ElementType type, std::span<double> to) {
  convert(from, type, to);
}

void to_floats(std::span<const std::byte> from, ElementType type, std::span<float> to) {
  convert(from, type, to);
}

int significand_digits(ElementType type) {
  switch (type) {
    case ElementType::kI1:
      return 1;
    case ElementType::kI8:
      return 7;
    case ElementType::kI16:
      return 15;
    case ElementType::kI32:
      return 31;
    case ElementType::kI64:
      return 63;
    case ElementType::kF8E5M2:
      return 3;
    case ElementType::kF8E4M3:
      return 4;
    case ElementType::kBF16:
      return 8;
    case ElementType::kF16:
      return 11;
    case ElementType::kF32:
      return 24;
    case ElementType::kF64:
      break;
  }
  return 53;
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

std::vector<double> values_of(const problem::Array& array) {
  std::vector<double> values(static_cast<std::size_t>(problem::element_count(array.type)));
  to_doubles(array.data(), array.type.element, values);
  return values;
}

}  // namespace hone::measure
