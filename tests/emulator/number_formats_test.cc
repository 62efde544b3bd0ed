// Conversions of number formats against the definitions of IEEE 754 and of the FNUZ formats.
#include "emulator/number_formats.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone::emulator {
namespace {

TEST(NumberFormats, HalvesAreReadAndWrittenExactly) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(bits);
    if (std::isnan(value)) {
      EXPECT_GT(float_to_half(value) & 0x7fff, 0x7c00u);
      continue;
    }
    ASSERT_EQ(float_to_half(value), bits);
    ASSERT_EQ(value, static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits))));
  }
}

TEST(NumberFormats, HalvesRoundAsTheHostsDo) {
  for (std::uint32_t bits = 0; bits < 0xffff0000u; bits += 0x1357) {
    const float value = float_of(bits);
    if (std::isnan(value)) continue;
    ASSERT_EQ(float_to_half(value), std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)))
        << value;
  }
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
