#include "measure/array_difference.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace hone::measure {
namespace {

problem::Array array(const std::vector<float>& values) {
  problem::Array made{{problem::ElementType::kF32, {std::ssize(values)}}, {}};
  made.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return made;
}

TEST(ArrayDifference, IsInAbsoluteRelativeAndUlp) {
  const float next = std::nextafter(std::nextafter(2.0f, 3.0f), 3.0f);
  const auto difference = difference_of(array({1, next, 0.5f, -0.0f}), array({1, 2, 0.25f, 0}));
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->elements, 4);
  EXPECT_EQ(difference->different, 2);
  EXPECT_EQ(difference->largest, 0.25);
  EXPECT_EQ(difference->mean, (0.25 + (double(next) - 2)) / 4);
  EXPECT_EQ(difference->largest_relative, 1);
  EXPECT_EQ(difference->largest_ulp, 8388608);  // one power of two of f32: 2^23
}

TEST(ArrayDifference, CountsSmallestNumbersOnBothSidesOfZero) {
  const float smallest = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(difference_of(array({-smallest}), array({smallest}))->largest_ulp, 2);
}

// One element each that is off by 0, 1, 2, 3, 4, 16, 17 and 300 numbers, of eight.
TEST(ArrayDifference, TellsRoundingsFromOtherValues) {
  const auto off_by = [](std::int32_t steps) {
    return std::bit_cast<float>(std::bit_cast<std::int32_t>(1.0f) + steps);
  };
  std::vector<float> got;
  for (const int steps : {0, 1, 2, 3, 4, 16, 17, 300}) got.push_back(off_by(steps));
  const auto difference = difference_of(array(got), array(std::vector<float>(got.size(), 1)));
  ASSERT_TRUE(difference);
  EXPECT_THAT(difference->by_ulp, testing::ElementsAre(1, 1, 2, 1, 1, 1));
  EXPECT_EQ(ulp_text(*difference),
            "1: 12 %, 2: 12 %, 3-4: 25 %, 5-16: 12 %, 17-256: 12 %, >256: 12 %");
  EXPECT_EQ(ulp_text(*difference_of(array({1, 2}), array({1, 2}))), "");
}

TEST(ArrayDifference, LeavesNanOutOfItsNumbers) {
  const float nan = std::nanf("");
  const auto difference = difference_of(array({nan, nan, 3}), array({nan, 1, 1}));
  EXPECT_EQ(difference->different, 2);
  EXPECT_EQ(difference->largest, 2);
}

TEST(ArrayDifference, IsOfOneType) {
  EXPECT_EQ(difference_of(array({1}), array({1, 2})).error().message,
            "1xf32 cannot be compared with 2xf32");
}

}  // namespace
}  // namespace hone::measure
