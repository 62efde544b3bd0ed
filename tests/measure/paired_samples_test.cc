#include "measure/paired_samples.h"

#include <gtest/gtest.h>

namespace hone::measure {
namespace {

HandleSamples taken(std::vector<double> seconds, std::vector<int> rounds) {
  HandleSamples samples;
  samples.seconds = std::move(seconds);
  samples.rounds = std::move(rounds);
  return samples;
}

TEST(PairedRatio, ComparesWithinRounds) {
  // The machine is twice as slow in round 2; the ratio is not.
  EXPECT_DOUBLE_EQ(paired_ratio(taken({1, 2, 1}, {1, 2, 4}), taken({2, 4, 9}, {1, 2, 3})).value(),
                   0.5);
}

TEST(PairedRatio, NeedsACommonRound) {
  EXPECT_FALSE(paired_ratio(taken({1}, {1}), taken({2}, {2})));
}

// Ratios 1.0, 1.1, 1.3: median 1.1, deviations 0.1, 0, 0.2 with median 0.1;
// 1.253 x 1.483 x 0.1 / 1.1 / sqrt(3) = 0.0975.
TEST(RatioNoise, IsTheStandardErrorOfTheMedian) {
  const HandleSamples samples{
      .handle = 1, .seconds = {1.0, 2.2, 3.9}, .rounds = {0, 1, 2}, .stop = ""};
  const HandleSamples baseline{
      .handle = 2, .seconds = {1.0, 2.0, 3.0}, .rounds = {0, 1, 2}, .stop = ""};
  EXPECT_NEAR(*ratio_noise(samples, baseline), 0.0975, 0.0001);
  const HandleSamples two{.handle = 1, .seconds = {1.0, 2.2}, .rounds = {0, 1}, .stop = ""};
  EXPECT_FALSE(ratio_noise(two, baseline));
}

TEST(PairedRounds, KeepsTheRoundsInWhichEveryHandleHasASample) {
  MeasureResult result;
  result.handles = {{.handle = 1, .seconds = {1.0, 1.1, 1.2}, .rounds = {0, 1, 3}, .stop = ""},
                    {.handle = 2, .seconds = {2.0, 2.2, 2.3}, .rounds = {0, 2, 3}, .stop = ""}};
  EXPECT_EQ(paired_rounds(result), (std::vector<std::vector<double>>{{1.0, 2.0}, {1.2, 2.3}}));
  EXPECT_TRUE(paired_rounds({}).empty());
}

}  // namespace
}  // namespace hone::measure
