// Conversions between the element types as they lie in memory and double. From memory: exact. To
// memory: rounded to nearest, ties to even, straight from double (no double rounding).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "problem/npy.h"
#include "problem/types.h"

namespace hone::measure {

// IEEE binary16; bfloat16 (upper half of binary32); OCP 8-bit floating point (OFP8, rev. 1.0): E4M3
// has no infinity, one NaN of each sign and the largest value 448; E5M2 is IEEE-like.
double from_f16(std::uint16_t bits);
double from_bf16(std::uint16_t bits);
double from_f8e4m3(std::uint8_t bits);
double from_f8e5m2(std::uint8_t bits);

// Values too large become infinity, in E4M3 NaN (as LLVM's APFloat and arith.truncf have it).
std::uint16_t to_f16(double value);
std::uint16_t to_bf16(double value);
std::uint8_t to_f8e4m3(double value);
std::uint8_t to_f8e5m2(double value);

// One element. i64 beyond 2^53 is rounded; compare such as integers.
double load_element(const std::byte* from, problem::ElementType type);
// Integers: the nearest, wrapped to the type's width (modulo 2^bits) as integer arithmetic does;
// i1 is 1 for any value but 0.
void store_element(std::byte* to, problem::ElementType type, double value);
// An integer of any width, sign-extended (i1: 0 or 1). Not for floating-point types: 0.
std::int64_t load_integer(const std::byte* from, problem::ElementType type);
// Wrapped to the type's width; rounded for floating-point types.
void store_integer(std::byte* to, problem::ElementType type, std::int64_t value);

// Whole buffers; `to` has bytes.size() / byte_size(type) elements.
void to_doubles(std::span<const std::byte> from, problem::ElementType type, std::span<double> to);
void to_floats(std::span<const std::byte> from, problem::ElementType type, std::span<float> to);
std::vector<double> values_of(const problem::Array& array);
// Every element becomes what `change`, called with its place and its value, returns.
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
