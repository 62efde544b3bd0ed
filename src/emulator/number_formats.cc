#include "emulator/number_formats.h"

#include <array>
#include <cmath>

namespace hone::emulator {
namespace {

// A binary format without infinities in its table of numbers: what small formats have in common.
struct SmallFormat {
  int mantissa_bits;
  int bias;
  std::uint32_t largest;  // bits of the largest finite number
};

// Bits of |value| (finite) in the format; one more than `largest` on overflow.
std::uint32_t magnitude_bits(double magnitude, bool negative, const SmallFormat& format,
                             Rounding rounding) {
  if (magnitude == 0) return 0;
  int exponent = std::ilogb(magnitude);
  exponent = exponent < 1 - format.bias ? 1 - format.bias : exponent;
  const double scaled = std::ldexp(magnitude, format.mantissa_bits - exponent);
  double whole = std::floor(scaled);
  const double rest = scaled - whole;
  bool up = false;
  switch (rounding) {
    case Rounding::kNearestEven:
      up = rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0);
      break;
    case Rounding::kUp:
      up = rest > 0 && !negative;
      break;
    case Rounding::kDown:
      up = rest > 0 && negative;
      break;
    case Rounding::kToZero:
      break;
  }
  whole += up ? 1 : 0;
  // The implicit one adds a unit of the exponent; a carry into the next exponent comes out right.
  const double steps =
      whole + std::ldexp(static_cast<double>(exponent + format.bias - 1), format.mantissa_bits);
  return steps > format.largest ? format.largest + 1 : static_cast<std::uint32_t>(steps);
}

constexpr SmallFormat kHalf{10, 15, 0x7bff};
constexpr SmallFormat kFp8{3, 8, 0x7f};
constexpr SmallFormat kBf8{2, 16, 0x7f};

std::uint32_t to_fnuz(float value, bool saturate, const SmallFormat& format) {
  constexpr std::uint32_t kNan = 0x80;
  if (std::isnan(value)) return kNan;
  const bool negative = std::signbit(value);
  std::uint32_t bits = format.largest + 1;
  if (!std::isinf(value)) {
    bits = magnitude_bits(std::fabs(value), negative, format, Rounding::kNearestEven);
  }
  if (bits > format.largest) {
    if (!saturate || std::isinf(value)) return kNan;
    bits = format.largest;
  }
  return bits == 0 ? 0 : bits | (negative ? 0x80u : 0u);
}

float from_fnuz(std::uint32_t bits, const SmallFormat& format) {
  bits &= 0xff;
  if (bits == 0x80) return float_of(0x7fc00000);
  const int exponent = static_cast<int>((bits & 0x7f) >> format.mantissa_bits);
  const int mantissa = static_cast<int>(bits & ((1u << format.mantissa_bits) - 1));
  const int whole = exponent == 0 ? mantissa : mantissa + (1 << format.mantissa_bits);
  const int shift = (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits;
  const float magnitude = std::ldexp(static_cast<float>(whole), shift);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

std::array<float, 256> fnuz_values(const SmallFormat& format) {
  std::array<float, 256> values{};
  for (std::uint32_t bits = 0; bits < 256; ++bits) values[bits] = from_fnuz(bits, format);
  return values;
}

}  // namespace

std::uint32_t float_to_half(float value, Rounding rounding) {
  if (rounding == Rounding::kNearestEven || !std::isfinite(value)) return float_to_half(value);
  const bool negative = std::signbit(value);
  std::uint32_t bits = magnitude_bits(std::fabs(value), negative, kHalf, rounding);
  const bool to_infinity =
      rounding == Rounding::kUp ? !negative : rounding == Rounding::kDown && negative;
  if (bits > kHalf.largest) bits = to_infinity ? 0x7c00u : kHalf.largest;
  return bits | (negative ? 0x8000u : 0u);
}

std::uint32_t float_to_bfloat(float value) {
  const std::uint32_t bits = bits_of(value);
  if (std::isnan(value)) return bits >> 16 | 0x40u;
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

float fp8_to_float(std::uint32_t bits) {
  static const std::array<float, 256> values = fnuz_values(kFp8);
  return values[bits & 0xff];
}

float bf8_to_float(std::uint32_t bits) {
  static const std::array<float, 256> values = fnuz_values(kBf8);
  return values[bits & 0xff];
}

std::uint32_t float_to_fp8(float value, bool saturate) {
  return to_fnuz(value, saturate, kFp8);
}
std::uint32_t float_to_bf8(float value, bool saturate) {
  return to_fnuz(value, saturate, kBf8);
}

float fma_to_odd(float a, float b, float c) {
  const double product = static_cast<double>(a) * b;  // exact
  const double sum = product + c;
  if (!std::isfinite(sum) || sum == 0) return static_cast<float>(sum);
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (static_cast<double>(c) - part);
  auto result = static_cast<float>(sum);
  const double above = static_cast<double>(result) - sum;
  const bool inexact = above != 0 || lost != 0;
  // Towards zero first, then the last bit says that there was more.
  const bool too_far = above != 0 ? (above > 0) == (sum > 0) : lost != 0 && (lost > 0) != (sum > 0);
  std::uint32_t bits = bits_of(result);
  if (too_far) --bits;
  if (inexact) bits |= 1u;
  result = float_of(bits);
  return result;
}

}  // namespace hone::emulator
