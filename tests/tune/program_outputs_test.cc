#include "tune/program/program_outputs.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "measure/half.h"

namespace hone::tune {
namespace {

using testing::HasSubstr;

problem::Array array(const std::vector<float>& values) {
  problem::Array array{{problem::ElementType::kF32, {static_cast<std::int64_t>(values.size())}},
                       {}};
  array.bytes.resize(values.size() * sizeof(float));
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

TEST(DifferenceOfOutputs, RoundingIsNone) {
  // f32: 1e-4 of the element, or of the largest one, 100: an error of 0.005 beside it is rounding.
  const std::vector expected{array({100, 0, 3})};
  EXPECT_EQ(difference_of_outputs({array({100.005f, 0.005f, 3})}, expected).value(), "");
}

TEST(DifferenceOfOutputs, NamesTheFirstBadElement) {
  const std::vector expected{array({1, 2}), array({100, 0, 3})};
  const std::string difference =
      difference_of_outputs({array({1, 2}), array({100, 0, 4})}, expected).value();
  EXPECT_THAT(difference, HasSubstr("result 1 is "));
  EXPECT_THAT(difference, HasSubstr("[2]"));
}

TEST(ChangedBits, AreToldOfTheFirstResultThatHasThem) {
  const std::vector expected{array({1, 2}), array({0, 4, 5})};
  EXPECT_EQ(changed_bits(expected, expected), "");
  // 0 and -0 are equal and have other bits.
  EXPECT_EQ(changed_bits({array({1, 2}), array({-0.0f, 4, 5.0000005f})}, expected),
            "result 1 is not bit-equal: 2 of 3 elements have other bits, element 0 first");
}

problem::Array half(const std::vector<double>& values) {
  problem::Array array{{problem::ElementType::kF16, {static_cast<std::int64_t>(values.size())}},
                       {}};
  array.bytes.resize(2 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    measure::store_element(reinterpret_cast<std::byte*>(array.bytes.data()) + 2 * i,
                           problem::ElementType::kF16, values[i]);
  return array;
}

// sqrt(22 / 4) is the output's own; the first element is off by 1/64.
TEST(ErrorByWide, IsAShareOfTheOutput) {
  const problem::Array wide = array({4, 1, -2, 1});
  EXPECT_NEAR(error_by_wide(half({4 + 1.0 / 64, 1, -2, 1}), wide), 1.0 / 64 / std::sqrt(22), 1e-9);
  EXPECT_EQ(error_by_wide(half({4, 1, -2, 1}), wide), 0);
  EXPECT_EQ(error_by_wide(half({NAN, 1, -2, 1}), wide), INFINITY);
}

// f16 allows 1e-3 of the largest element, 4. The default is off by 1/64 in one of four elements
// (root mean square 1/128), which is what it costs to compute in f16.
TEST(DifferenceOfNarrowOutputs, IsNoneWithinTwiceTheDefaultsOwnError) {
  const std::vector wide{array({4, 1, -2, 1})};
  const std::vector expected{half({4 + 1.0 / 64, 1, -2, 1})};
  const std::vector other_way{half({4 - 1.0 / 64, 1, -2, 1})};
  EXPECT_NE(difference_of_outputs(other_way, expected).value(), "");
  EXPECT_EQ(difference_of_outputs(other_way, expected, wide).value(), "");
  EXPECT_EQ(difference_of_outputs({half({4, 1, -2, 1 + 2.0 / 64})}, expected, wide).value(), "");
  EXPECT_THAT(difference_of_outputs({half({4, 1, -2, 1 + 3.0 / 64})}, expected, wide).value(),
              HasSubstr("its error is 0.023 (root mean square; the default's 0.0078) and 0.047 at "
                        "most (the default's 0.016)"));
}

TEST(DifferenceOfNarrowOutputs, CannotBeToldWhereTheDefaultIsFarOff) {
  const std::vector wide{array({4, 1, -2, 1})};
  const std::vector expected{half({5, 1, -2, 1})};
  EXPECT_THAT(difference_of_outputs({half({4, 1, -2, 1})}, expected, wide).value(),
              HasSubstr("the default's own error is 0.21 of the output"));
}

TEST(DifferenceOfNarrowOutputs, WhatIsNoNumberIsFarOff) {
  const std::vector wide{array({4, 1, -2, 1})};
  const std::vector expected{half({4 + 1.0 / 64, 1, -2, 1})};
  EXPECT_NE(difference_of_outputs({half({4, NAN, -2, 1})}, expected, wide).value(), "");
}

TEST(DifferenceOfOutputs, OtherTypesAreRefused) {
  const std::vector expected{array({1, 2})};
  EXPECT_THAT(difference_of_outputs({}, expected).error().message, HasSubstr("0 results, not 1"));
  EXPECT_THAT(difference_of_outputs({array({1})}, expected).error().message,
              HasSubstr("1xf32, not 2xf32"));
}

}  // namespace
}  // namespace hone::tune
