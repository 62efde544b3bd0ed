#include "measure/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/measure/special_values.h"

namespace hone::measure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Summary, OfFiveSamples) {
  const std::vector<double> samples{4, 1, 3, 10, 2};
  const Summary summary = summarise(samples);
  EXPECT_EQ(summary.n, 5u);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.q1, 2);
  EXPECT_EQ(summary.median, 3);
  EXPECT_EQ(summary.q3, 4);
  EXPECT_EQ(summary.mean, 4);
  // Deviations from 3: 2 1 0 1 7.
  EXPECT_EQ(summary.mad, 1);
  // Squares about the mean: 9 + 4 + 1 + 0 + 36 = 50, over 4, root 3.5355, over 4.
  EXPECT_DOUBLE_EQ(summary.cov, std::sqrt(12.5) / 4);
}

TEST(Summary, QuartilesAreInterpolated) {
  const std::vector<double> samples{1, 2, 3, 4};
  const Summary summary = summarise(samples);
  EXPECT_EQ(summary.q1, 1.75);
  EXPECT_EQ(summary.median, 2.5);
  EXPECT_EQ(summary.q3, 3.25);
}

TEST(Summary, OfOneSampleAndOfNone) {
  const std::vector<double> one{7};
  EXPECT_EQ(summarise(one).median, 7);
  EXPECT_EQ(summarise(one).q3, 7);
  EXPECT_EQ(summarise(one).cov, 0);
  EXPECT_EQ(summarise({}).n, 0u);
  EXPECT_EQ(median({}), 0);
}

TEST(MedianInterval, FollowsTheBinomialTable) {
  // Conover, table A3: ranks of the 95 % interval. n = 6: 1 and 6 (96.9 %); n = 10: 2 and 9
  // (97.9 %); n = 20: 6 and 15 (95.9 %); n = 30: 10 and 21 (95.7 %).
  EXPECT_EQ(median_interval(one_to(6)), (Interval{1, 6}));
  EXPECT_EQ(median_interval(one_to(10)), (Interval{2, 9}));
  EXPECT_EQ(median_interval(one_to(20)), (Interval{6, 15}));
  EXPECT_EQ(median_interval(one_to(30)), (Interval{10, 21}));
}

TEST(MedianInterval, DoesNotClaimWhatFiveSamplesCannotGive) {
  EXPECT_EQ(median_interval(one_to(5)), (Interval{-kInfinity, kInfinity}));
  EXPECT_EQ(relative_half_width(one_to(5)), kInfinity);
  // Two-sided 93.75 % is what five samples do give.
  EXPECT_EQ(median_interval(one_to(5), 0.9375), (Interval{1, 5}));
}

TEST(MedianInterval, ManySamplesDoNotUnderflow) {
  // Normal approximation for n = 10,000: ranks 5000 -+ 98.
  const Interval interval = median_interval(one_to(10000));
  EXPECT_NEAR(interval.low, 4902, 2);
  EXPECT_NEAR(interval.high, 5099, 2);
}

TEST(MedianLowerBound, IsTheSmallestOfFive) {
  EXPECT_EQ(median_lower_bound(one_to(4)), -kInfinity);
  EXPECT_EQ(median_lower_bound(one_to(5)), 1);  // 1 - 1/32 = 96.9 %
  EXPECT_EQ(median_lower_bound(one_to(8)), 2);  // 1 - 9/256 = 96.5 %
}

TEST(RelativeHalfWidth, IsHalfTheIntervalOverTheMedian) {
  // 99 .. 101 of ten samples around 100: ranks 2 and 9.
  const std::vector<double> samples{98, 99, 100, 100, 100, 100, 100, 100, 101, 102};
  EXPECT_DOUBLE_EQ(relative_half_width(samples), 0.01);
}

TEST(Outliers, LieFarAboveTheUpperQuartile) {
  // In order 1 10 11 11 12 12 12 13 19 20: the fence is 12.75 + 3 x 1.75 = 18. A fast one is none.
  const std::vector<double> samples{10, 11, 12, 13, 19, 20, 1, 12, 11, 12};
  const Summary summary = summarise(samples);
  EXPECT_EQ(summary.q1, 11);
  EXPECT_EQ(summary.q3, 12.75);
  EXPECT_THAT(outliers(samples), ElementsAre(4, 5));
  EXPECT_THAT(outliers(samples, 5), IsEmpty());  // fence 21.5
}

TEST(Autocorrelation, OfAlternatingAndOfRisingSamples) {
  const std::vector<double> alternating{1, -1, 1, -1};
  EXPECT_DOUBLE_EQ(lag_one_autocorrelation(alternating), -0.75);  // -3 / 4
  // 1..5 about 3: (-2)(-1) + 0 + 0 + (1)(2) = 4, over 10.
  EXPECT_DOUBLE_EQ(lag_one_autocorrelation(one_to(5)), 0.4);
  EXPECT_EQ(lag_one_autocorrelation(one_to(2)), 0);
  const std::vector<double> constant{2, 2, 2, 2};
  EXPECT_EQ(lag_one_autocorrelation(constant), 0);
}

}  // namespace
}  // namespace hone::measure
