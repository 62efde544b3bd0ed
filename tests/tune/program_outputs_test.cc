#include "tune/program_outputs.h"

#include <gmock/gmock.h>

#include <cstring>

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

TEST(DifferenceOfOutputs, OtherTypesAreRefused) {
  const std::vector expected{array({1, 2})};
  EXPECT_THAT(difference_of_outputs({}, expected).error().message, HasSubstr("0 results, not 1"));
  EXPECT_THAT(difference_of_outputs({array({1})}, expected).error().message,
              HasSubstr("1xf32, not 2xf32"));
}

}  // namespace
}  // namespace hone::tune
