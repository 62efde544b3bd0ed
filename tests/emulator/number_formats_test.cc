// Conversions of number formats against the definitions of IEEE 754 and of the FNUZ formats.
#include "emulator/number_formats.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone::emulator {
namespace {

// The value of f16 bits by the definition: sign, five bits of exponent, ten of mantissa.
float defined_half(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto mantissa = static_cast<float>(bits & 0x3ff);
  const float magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(NumberFormats, HalvesAreReadAndWrittenExactly) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(bits);
    if ((bits & 0x7c00) == 0x7c00) {
      ASSERT_EQ(std::isinf(value), (bits & 0x3ff) == 0);
      ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0);
    } else {
      ASSERT_EQ(value, defined_half(bits));
    }
    if (!std::isnan(value)) {
      ASSERT_EQ(float_to_half(value), bits);
    }
  }
}

TEST(NumberFormats, HalvesRoundToTheNearestAndOfTwoToTheEven) {
  for (std::uint32_t bits = 0; bits < 0x477ff000; bits += 0x357) {
    const float value = float_of(bits);
    const std::uint32_t half = float_to_half(value);
    const auto distance = [&](std::uint32_t other) {
      return std::fabs(static_cast<double>(defined_half(other)) - value);
    };
    ASSERT_LE(distance(half), distance(half + 1)) << value;
    if (half > 0) {
      ASSERT_LE(distance(half), distance(half - 1)) << value;
    }
    const bool tie =
        distance(half) == distance(half + 1) || (half > 0 && distance(half) == distance(half - 1));
    if (tie) {
      ASSERT_EQ(half % 2, 0u) << value;
    }
    ASSERT_EQ(float_to_half(-value), half | 0x8000);
  }
  EXPECT_EQ(float_to_half(65519.99f), 0x7bffu);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00u);
}

TEST(NumberFormats, HalvesRoundByModes) {
  const float between = 1.0f + 0x1p-12f;
  EXPECT_EQ(float_to_half(between, Rounding::kUp), 0x3c01u);
  EXPECT_EQ(float_to_half(between, Rounding::kDown), 0x3c00u);
  EXPECT_EQ(float_to_half(-between, Rounding::kDown), 0xbc01u);
  EXPECT_EQ(float_to_half(1.0f + 0x1.ffp-11f, Rounding::kToZero), 0x3c00u);
  EXPECT_EQ(float_to_half(1e6f, Rounding::kToZero), 0x7bffu);
  EXPECT_EQ(float_to_half(1e-9f, Rounding::kUp), 0x0001u);
}

TEST(NumberFormats, Fp8HasOneZeroOneNanAndNoInfinity) {
  EXPECT_EQ(fp8_to_float(0x7f), 240.0f);
  EXPECT_EQ(fp8_to_float(0x01), 0x1p-10f);
  EXPECT_EQ(bf8_to_float(0x7f), 57344.0f);
  EXPECT_EQ(bf8_to_float(0x01), 0x1p-17f);
  EXPECT_TRUE(std::isnan(fp8_to_float(0x80)));
  EXPECT_EQ(float_to_fp8(-0.0f, true), 0u);
  EXPECT_EQ(float_to_fp8(1000.0f, true), 0x7fu);
  EXPECT_EQ(float_to_fp8(1000.0f, false), 0x80u);
  EXPECT_EQ(float_to_bf8(NAN, true), 0x80u);
  for (std::uint32_t bits = 0; bits < 256; ++bits) {
    EXPECT_EQ(float_to_fp8(fp8_to_float(bits), true), bits);
    EXPECT_EQ(float_to_bf8(bf8_to_float(bits), true), bits);
  }
  EXPECT_EQ(float_to_fp8(1.0f + 0x1p-4f, true), 0x40u) << "a tie goes to the even one";
}

TEST(NumberFormats, BfloatsRoundToTheNearestEven) {
  EXPECT_EQ(float_to_bfloat(1.0f + 0x1p-8f), 0x3f80u);
  EXPECT_EQ(float_to_bfloat(1.0f + 0x1.8p-7f), 0x3f82u);
  EXPECT_EQ(bfloat_to_float(0x3f81), 1.0f + 0x1p-7f);
}

TEST(NumberFormats, AFusedProductOfHalvesRoundsOnce) {
  // 2^-12 above a tie of f16: the sum in f32 would lose it.
  const float a = 1.0f + 0x1p-10f;
  const float exact = fma_to_odd(a, 0x1p-11f, 1.0f);
  EXPECT_EQ(float_to_half(exact), 0x3c01u);
  EXPECT_EQ(fma_to_odd(3, 5, 1), 16.0f);
  EXPECT_EQ(float_to_half(fma_to_odd(2048, 1, -0x1p-24f)), 0x6800u);
}

}  // namespace
}  // namespace hone::emulator
