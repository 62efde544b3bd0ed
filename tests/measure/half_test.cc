#include "measure/half.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "tests/measure/special_values.h"

namespace hone::measure {
namespace {

using problem::ElementType;

TEST(F16, KnownValues) {
  EXPECT_EQ(F16::decode(0x3C00), 1);
  EXPECT_EQ(F16::decode(0xC000), -2);
  EXPECT_EQ(F16::decode(0x7BFF), 65504);
  EXPECT_EQ(F16::decode(0x0001), std::ldexp(1, -24));
  EXPECT_EQ(F16::decode(0x0400), std::ldexp(1, -14));
  EXPECT_EQ(F16::decode(0x7C00), kInfinity);
  EXPECT_TRUE(std::isnan(F16::decode(0x7C01)));
  EXPECT_TRUE(std::signbit(F16::decode(0x8000)));
}

TEST(F16, RoundsToNearestEven) {
  EXPECT_EQ(F16::encode(1 + std::ldexp(1, -11)), 0x3C00);      // tie, to even
  EXPECT_EQ(F16::encode(1 + 3 * std::ldexp(1, -11)), 0x3C02);  // tie, to even
  EXPECT_EQ(F16::encode(1 + std::ldexp(1.001, -11)), 0x3C01);
  EXPECT_EQ(F16::encode(65519.99), 0x7BFF);
  EXPECT_EQ(F16::encode(65520), 0x7C00);          // half a step above the largest
  EXPECT_EQ(F16::encode(std::ldexp(1, -25)), 0);  // half of the smallest: a tie with zero
  EXPECT_EQ(F16::encode(std::ldexp(1.001, -25)), 1);
  EXPECT_EQ(F16::encode(std::ldexp(1, -26)), 0);
  EXPECT_EQ(F16::encode(-0.0), 0x8000);
  EXPECT_EQ(F16::encode(kInfinity), 0x7C00);
  EXPECT_EQ(F16::encode(kNan) & 0x7E00, 0x7E00);
}

TEST(F16, RoundsOnceNotThroughF32) {
  // Just above a tie by less than f32 can tell: through f32 it would become the tie and go down.
  const double value = 1 + std::ldexp(1, -11) + std::ldexp(1, -40);
  EXPECT_EQ(static_cast<float>(value), 1 + std::ldexp(1.0f, -11));
  EXPECT_EQ(F16::encode(value), 0x3C01);
}

TEST(BF16, IsTheUpperHalfOfF32) {
  EXPECT_EQ(BF16::decode(0x3F80), 1);
  EXPECT_EQ(BF16::decode(0x0001), std::ldexp(1, -133));
  EXPECT_EQ(BF16::encode(1 + std::ldexp(1, -8)), 0x3F80);
  EXPECT_EQ(BF16::encode(1 + 3 * std::ldexp(1, -8)), 0x3F82);
  EXPECT_EQ(BF16::encode(3.4e38), 0x7F80);
  EXPECT_EQ(BF16::encode(3.3e38), 0x7F78);
}

TEST(F8E4M3, HasNoInfinity) {
  EXPECT_EQ(F8E4M3::decode(0x38), 1);
  EXPECT_EQ(F8E4M3::decode(0x7E), 448);
  EXPECT_EQ(F8E4M3::decode(0x01), std::ldexp(1, -9));
  EXPECT_TRUE(std::isnan(F8E4M3::decode(0x7F)));
  EXPECT_EQ(F8E4M3::encode(464), 0x7E);  // a tie between 448 and the NaN's place: to even
  EXPECT_EQ(F8E4M3::encode(464.1), 0x7F);
  EXPECT_EQ(F8E4M3::encode(-kInfinity), 0xFF);
  EXPECT_EQ(F8E4M3::encode(17), 0x58);  // 16: 17 is a tie between 16 and 18
}

TEST(F8E5M2, IsLikeIeee) {
  EXPECT_EQ(F8E5M2::decode(0x3C), 1);
  EXPECT_EQ(F8E5M2::decode(0x7B), 57344);
  EXPECT_EQ(F8E5M2::decode(0x7C), kInfinity);
  EXPECT_EQ(F8E5M2::encode(61439), 0x7B);
  EXPECT_EQ(F8E5M2::encode(61440), 0x7C);
  EXPECT_EQ(F8E5M2::encode(-1e9), 0xFC);
}

// Every value of a format survives the way to double and back, and the middle between two
// neighbours goes to the one with the even code.
template <class Format>
void check_all(unsigned codes) {
  using Bits = typename Format::Bits;
  const auto from = Format::decode;
  const auto to = Format::encode;
  for (unsigned code = 0; code < codes; ++code) {
    const auto bits = static_cast<Bits>(code);
    const double value = from(bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from(to(value))));
      continue;
    }
    ASSERT_EQ(to(value), bits);
    const double next = from(static_cast<Bits>(code + 1));
    if (code + 1 == codes / 2 || code + 1 == codes || !std::isfinite(value) || !std::isfinite(next))
      continue;
    const auto even = static_cast<Bits>(code % 2 == 0 ? code : code + 1);
    ASSERT_EQ(to((value + next) / 2), even) << code;
    ASSERT_EQ(to(value + (next - value) * 0.49), bits) << code;
    ASSERT_EQ(to(value + (next - value) * 0.51), static_cast<Bits>(code + 1)) << code;
  }
}

TEST(SmallFloats, AllCodesRoundTrip) {
  check_all<F16>(65536);
  check_all<BF16>(65536);
  check_all<F8E4M3>(256);
  check_all<F8E5M2>(256);
}

double through(ElementType type, double value) {
  std::array<std::byte, 8> bytes{};
  store_element(bytes.data(), type, value);
  return load_element(bytes.data(), type);
}

TEST(Elements, IntegersWrapAndFloatsRound) {
  EXPECT_EQ(through(ElementType::kI8, 130), -126);
  EXPECT_EQ(through(ElementType::kI8, -129), 127);
  EXPECT_EQ(through(ElementType::kI16, 40000), 40000 - 65536);
  EXPECT_EQ(through(ElementType::kI32, 4294967297.0), 1);
  EXPECT_EQ(through(ElementType::kI64, -5), -5);
  EXPECT_EQ(through(ElementType::kI64, 18446744073709551616.0 + 4096), 4096);
  EXPECT_EQ(through(ElementType::kI32, 2.5), 2);
  EXPECT_EQ(through(ElementType::kI32, kNan), 0);
  EXPECT_EQ(through(ElementType::kI1, 7), 1);
  EXPECT_EQ(through(ElementType::kF32, 1e-3), 1e-3f);
  EXPECT_EQ(through(ElementType::kF64, 0.1), 0.1);
  EXPECT_EQ(through(ElementType::kF16, 0.1), 0.0999755859375);
  EXPECT_EQ(through(ElementType::kF8E4M3, 0.1), 0.1015625);
  EXPECT_EQ(through(ElementType::kF8E5M2, 0.1), 0.09375);
  EXPECT_EQ(through(ElementType::kBF16, 0.1), 0.10009765625);
}

TEST(Elements, LargeIntegersAreNotRounded) {
  std::array<std::byte, 8> bytes{};
  const std::int64_t odd = (std::int64_t{1} << 60) + 1;
  store_integer(bytes.data(), ElementType::kI64, odd);
  EXPECT_EQ(load_integer(bytes.data(), ElementType::kI64), odd);
  store_integer(bytes.data(), ElementType::kF16, 3);
  EXPECT_EQ(load_element(bytes.data(), ElementType::kF16), 3);
  EXPECT_EQ(load_integer(bytes.data(), ElementType::kF16), 0);
  store_integer(bytes.data(), ElementType::kI1, 3);
  EXPECT_EQ(load_integer(bytes.data(), ElementType::kI1), 1);
}

TEST(Elements, WholeBuffers) {
  using namespace std::string_literals;
  const problem::Array halves{{ElementType::kF16, {3}}, "\x00\x3C\x00\xC0\x55\x35"s};
  EXPECT_EQ(values_of(halves), (std::vector<double>{1, -2, 0.333251953125}));
  EXPECT_EQ(values_of<float>(halves), (std::vector<float>{1, -2, 0.333251953125f}));
}

TEST(Elements, DigitsAndRoundoff) {
  EXPECT_EQ(significand_digits(ElementType::kF32), 24);
  EXPECT_EQ(significand_digits(ElementType::kF64), 53);
  EXPECT_EQ(significand_digits(ElementType::kF16), 11);
  EXPECT_EQ(significand_digits(ElementType::kBF16), 8);
  EXPECT_EQ(significand_digits(ElementType::kF8E4M3), 4);
  EXPECT_EQ(significand_digits(ElementType::kF8E5M2), 3);
  EXPECT_EQ(significand_digits(ElementType::kI32), 31);
  EXPECT_EQ(significand_digits(ElementType::kI8), 7);
  EXPECT_EQ(significand_digits(ElementType::kI16), 15);
  EXPECT_EQ(significand_digits(ElementType::kI64), 63);
  EXPECT_EQ(significand_digits(ElementType::kI1), 1);
  // The first integer that does not survive is 2^digits + 1.
  for (const ElementType type : {ElementType::kF32, ElementType::kF16, ElementType::kBF16,
                                 ElementType::kF8E4M3, ElementType::kF8E5M2}) {
    const double limit = std::ldexp(1, significand_digits(type));
    EXPECT_EQ(through(type, limit), limit);
    EXPECT_NE(through(type, limit + 1), limit + 1);
    EXPECT_EQ(unit_roundoff(type), 1 / limit);
  }
  EXPECT_EQ(unit_roundoff(ElementType::kI32), 0);
}

}  // namespace
}  // namespace hone::measure
