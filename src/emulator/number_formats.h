// Number formats of gfx942, as bits and as float: f16, bf16, fp8 (e4m3) and bf8 (e5m2) of the FNUZ
// kind, xf32.
//
// FNUZ: one zero (bits 0), one NaN (bits 0x80), no infinity. Source: "AMD Instinct MI300 ISA",
// chapter 6 (data formats), and LLVM's APFloat semantics Float8E4M3FNUZ and Float8E5M2FNUZ. All
// functions are pure.
#pragma once

#include <bit>
#include <cstdint>

namespace hone::emulator {

// Rounding as MODE encodes it (MI300 ISA, table "MODE register fields", FP_ROUND).
enum class Rounding : std::uint8_t { kNearestEven = 0, kUp = 1, kDown = 2, kToZero = 3 };

inline std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline float float_of(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

// The value of f16 bits. Exact; branch-free, so that loops over lanes vectorise.
inline float half_to_float(std::uint32_t half) {
  const std::uint32_t magnitude = (half & 0x7fffu) << 13;
  const std::uint32_t finite = bits_of(float_of(magnitude) * 0x1p112f);
  const std::uint32_t bits = (half & 0x7c00u) == 0x7c00u ? magnitude | 0x7f800000u : finite;
  return float_of(bits | (half & 0x8000u) << 16);
}

// f16 bits of the value, rounded to the nearest even. NaN stays a quiet NaN.
inline std::uint32_t float_to_half(float value) {
  const std::uint32_t sign = bits_of(value) >> 16 & 0x8000u;
  const std::uint32_t x = bits_of(value) & 0x7fffffffu;
  const std::uint32_t normal = (x + 0xfffu + (x >> 13 & 1u) - 0x38000000u) >> 13;
  // Below 2^-14 an ulp is 2^-24, that of 0.5f: the addition rounds.
  const std::uint32_t subnormal = bits_of(float_of(x) + 0.5f) - 0x3f000000u;
  std::uint32_t half = x < 0x38800000u ? subnormal : normal;
  half = x >= 0x477ff000u ? 0x7c00u : half;
  half = x > 0x7f800000u ? 0x7e00u | (x >> 13 & 0x3ffu) : half;
  return half | sign;
}

// f16 bits of the value by any rounding.
std::uint32_t float_to_half(float value, Rounding rounding);

// The value of bf16 bits. Exact.
inline float bfloat_to_float(std::uint32_t bits) {
  return float_of(bits << 16);
}
// bf16 bits of the value, rounded to the nearest even.
std::uint32_t float_to_bfloat(float value);

// Values of e4m3fnuz and e5m2fnuz bits. Exact.
float fp8_to_float(std::uint32_t bits);
float bf8_to_float(std::uint32_t bits);

// Bits of the value, rounded to the nearest even; beyond the largest number: that number, with the
// sign (the hardware's conversions saturate while MODE.FP16_OVFL is set, else they give NaN).
std::uint32_t float_to_fp8(float value, bool saturate);
std::uint32_t float_to_bf8(float value, bool saturate);

// The value with the 10 bits of mantissa that xf32 products keep, rounded to the nearest even.
inline float to_xf32(float value) {
  const std::uint32_t x = bits_of(value);
  const bool special = (x & 0x7f800000u) == 0x7f800000u;
  return float_of(special ? x : (x + 0xfffu + (x >> 13 & 1u)) & 0xffffe000u);
}

// The f32 value with its subnormals made zeros of the same sign.
inline std::uint32_t flush_f32(std::uint32_t bits) {
  return (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
}
inline std::uint32_t flush_f16(std::uint32_t bits) {
  return (bits & 0x7c00u) == 0 ? bits & 0x8000u : bits;
}
inline double flush_f64(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & 0x7ff0000000000000u) == 0 ? std::bit_cast<double>(bits & 0x8000000000000000u)
                                           : value;
}

// a * b + c for operands that are f16 values, rounded to odd in f32: a second rounding to f16 is
// then right.
float fma_to_odd(float a, float b, float c);

}  // namespace hone::emulator
