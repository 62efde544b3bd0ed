// Conversions between the element types as they lie in memory and double. From memory: exact. To
// memory: rounded to nearest, ties to even, straight from double (no double rounding).
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "problem/npy.h"
#include "problem/types.h"

namespace hone::measure {

// A floating-point format of at most 16 bits. kFinite: the code above the largest value is NaN, and
// there is no infinity. Values too large become infinity, or NaN where there is none (as LLVM's
// APFloat and arith.truncf have it).
template <int kExponentBits, int kMantissaBits, bool kFinite = false>
struct Format {
  using Bits = std::conditional_t<(kExponentBits + kMantissaBits < 8), std::uint8_t, std::uint16_t>;
  static constexpr int kDigits = kMantissaBits + 1;

  static double decode(Bits bits) {
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

  static Bits encode(double value) {
    const auto wide = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t sign = (wide >> 63) != 0 ? kSign : 0;
    if (std::isnan(value)) return static_cast<Bits>(sign | kNan);
    const int exponent = static_cast<int>((wide >> 52) & 0x7FF) - 1023;
    const std::uint64_t mantissa = (wide & 0xFFFFFFFFFFFFFull) | 0x10000000000000ull;
    int shift = 52 - kMantissaBits;
    if (exponent < kLowestExponent) shift += kLowestExponent - exponent;
    // Below half of the smallest value; zero comes here too.
    if (shift > 53) return static_cast<Bits>(sign);
    const std::uint64_t remainder = mantissa & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t tie = std::uint64_t{1} << (shift - 1);
    std::uint64_t code = mantissa >> shift;
    if (remainder > tie || (remainder == tie && (code & 1) != 0)) ++code;
    // The leading one adds one to the exponent field; a carry out of the mantissa another.
    if (exponent > kLowestExponent)
      code += static_cast<std::uint64_t>(exponent - kLowestExponent) << kMantissaBits;
    return static_cast<Bits>(sign | (code < kOverflow ? code : kOverflow));
  }

 private:
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
};

// IEEE binary16; bfloat16 (upper half of binary32); OCP 8-bit floating point (OFP8, rev. 1.0): E4M3
// has no infinity, one NaN of each sign and the largest value 448; E5M2 is IEEE-like.
using F16 = Format<5, 10>;
using BF16 = Format<8, 7>;
using F8E4M3 = Format<4, 3, true>;
using F8E5M2 = Format<5, 2>;

// The nearest integer modulo 2^64, as two's complement; 0 for infinities and NaN.
std::int64_t wrapped(double value);

// A type that is its own format.
template <class T>
struct Native {
  using Bits = T;
  static constexpr int kDigits = std::numeric_limits<T>::digits;
  static T decode(T value) { return value; }
  static T encode(double value) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(wrapped(value));
    else
      return static_cast<T>(value);
  }
};

struct Truth {
  using Bits = std::uint8_t;
  static constexpr int kDigits = 1;
  static Bits decode(Bits bits) { return bits != 0; }
  static Bits encode(double value) { return value != 0; }
};

// Calls `use` with the format of `type` and returns its result.
template <class Use>
auto with_format(problem::ElementType type, const Use& use) {
  using problem::ElementType;
  switch (type) {
    case ElementType::kI1:
      return use(Truth());
    case ElementType::kI8:
      return use(Native<std::int8_t>());
    case ElementType::kI16:
      return use(Native<std::int16_t>());
    case ElementType::kI32:
      return use(Native<std::int32_t>());
    case ElementType::kI64:
      return use(Native<std::int64_t>());
    case ElementType::kF8E4M3:
      return use(F8E4M3());
    case ElementType::kF8E5M2:
      return use(F8E5M2());
    case ElementType::kF16:
      return use(F16());
    case ElementType::kBF16:
      return use(BF16());
    case ElementType::kF32:
      return use(Native<float>());
    case ElementType::kF64:
      break;
  }
  return use(Native<double>());
}

// Decodes the value at `from` in this format.
template <class Format>
auto decoded(Format, const std::byte* from) {
  typename Format::Bits bits;
  std::memcpy(&bits, from, sizeof bits);
  return Format::decode(bits);
}

// Loads an element. i64 beyond 2^53 is rounded; compare such values as integers.
double load_element(const std::byte* from, problem::ElementType type);
// Stores an element. Integers: the nearest, wrapped to the type's width (modulo 2^bits) as integer
// arithmetic does; i1 is 1 for any value but 0.
void store_element(std::byte* to, problem::ElementType type, double value);
// An integer of any width, sign-extended (i1: 0 or 1). Not for floating-point types: 0.
std::int64_t load_integer(const std::byte* from, problem::ElementType type);
// Wrapped to the type's width; rounded for floating-point types.
void store_integer(std::byte* to, problem::ElementType type, std::int64_t value);

// All elements.
template <class T = double>
std::vector<T> values_of(const problem::Array& array) {
  return with_format(array.type.element, [&array](auto format) {
    std::vector<T> values(static_cast<std::size_t>(problem::element_count(array.type)));
    const std::byte* from = std::as_bytes(std::span(array.bytes)).data();
    for (T& value : values) {
      value = static_cast<T>(decoded(format, from));
      from += sizeof(typename decltype(format)::Bits);
    }
    return values;
  });
}

// Replaces every element by the result of `change`, called with its place and its value.
template <class Change>
void change_elements(problem::Array& array, const Change& change) {
  const problem::ElementType type = array.type.element;
  const auto size = static_cast<std::size_t>(problem::byte_size(type));
  std::span<std::byte> left = array.data();
  for (std::size_t i = 0; left.size() >= size; ++i, left = left.subspan(size))
    store_element(left.data(), type, change(i, load_element(left.data(), type)));
}

// Binary digits of the significand, the leading one included: 24 for f32, 11, 8, 4, 3. For integers
// the bits of the magnitude: 31 for i32. All integers up to 2^digits are exact.
int significand_digits(problem::ElementType type);
// The exponent of the lowest binary digit that is set: 1.5 gives -1, 12 gives 2. For a finite value
// other than zero.
int lowest_digit(double value);
// Largest relative error of one rounding, 2^-digits; 0 for integers.
double unit_roundoff(problem::ElementType type);

}  // namespace hone::measure
