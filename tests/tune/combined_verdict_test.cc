#include "tune/dispatch/combined_verdict.h"

#include <gtest/gtest.h>

#include <vector>

#include "plan/policy.h"

namespace hone::tune {
namespace {

using measure::PairedComparison;
using measure::Verdict;

// With an interval of 1 % to either side. What such rounds resolve: the threshold, 0.5 %, and
// 1.84 times half the interval's width (measure::smallest_difference), so 2.3 %.
PairedComparison compared(double ratio, double width = 0.01) {
  PairedComparison made{
      .ratio = ratio, .interval = {ratio * (1 - width), ratio * (1 + width)}, .too_few = false};
  if (made.interval.high < 0.995) made.verdict = Verdict::kFaster;
  if (made.interval.low > 1.005) made.verdict = Verdict::kSlower;
  return made;
}

Verdict joint(const std::vector<PairedComparison>& comparisons) {
  return combined_verdict(comparisons);
}

TEST(JointVerdict, IsFasterWhereItIsSoOnceAndNeverSlower) {
  EXPECT_EQ(joint({compared(0.8), compared(1)}), Verdict::kFaster);
  EXPECT_EQ(joint({compared(1.2), compared(1)}), Verdict::kSlower);
  EXPECT_EQ(joint({compared(0.8), compared(1.2), compared(0.8)}), Verdict::kNoDifferent);
  EXPECT_EQ(joint({compared(1), compared(1)}), Verdict::kNoDifferent);
}

TEST(JointVerdict, OfOneComparisonIsItsOwn) {
  for (const double ratio : {0.8, 1.0, 1.2})
    EXPECT_EQ(joint({compared(ratio)}), compared(ratio).verdict);
}

// One that is certainly slower, by 1 %, is within the margin of 2 %; by 3 % it is not.
TEST(JointVerdict, SlowerMeansByMoreThanTheMargin) {
  EXPECT_EQ(joint({compared(0.8), compared(1.01, 0.002)}), Verdict::kFaster);
  EXPECT_EQ(joint({compared(0.8), compared(1.03, 0.002)}), Verdict::kNoDifferent);
}

// Rounds that could not tell 10 % apart have not shown that nothing is slower by 2 %: the margin
// is what they resolve, and is said.
TEST(JointVerdict, TheMarginIsAtLeastWhatTheRoundsResolve) {
  EXPECT_DOUBLE_EQ(slower_margin(std::vector{compared(1, 0.002)}), plan::kLeastMargin);
  EXPECT_NEAR(slower_margin(std::vector{compared(1, 0.01)}), 0.005 + 1.84 * 0.01, 0.001);
  EXPECT_NEAR(slower_margin(std::vector{compared(1, 0.002), compared(1, 0.05)}),
              0.005 + 1.84 * 0.05, 0.001);
  EXPECT_EQ(joint({compared(0.8), compared(1.06, 0.05)}), Verdict::kNoDifferent);  // up to 1.11
  EXPECT_EQ(joint({compared(0.8), compared(1.04, 0.05)}), Verdict::kFaster);       // up to 1.09
}

TEST(JointVerdict, TooFewRoundsExcludeNothing) {
  EXPECT_EQ(joint({compared(0.8), PairedComparison()}), Verdict::kNoDifferent);
}

// Half the time at one size and twice at the other is nothing on the average.
TEST(MeanRatio, IsGeometric) {
  EXPECT_DOUBLE_EQ(mean_ratio(std::vector<PairedComparison>{{.ratio = 0.5}, {.ratio = 2}}), 1);
  EXPECT_DOUBLE_EQ(mean_ratio(std::vector<PairedComparison>{{.ratio = 0.25}, {.ratio = 1}}), 0.5);
}

using Candidates = std::vector<std::vector<PairedComparison>>;
const PairedComparison kTwice = compared(0.5);
const PairedComparison kFourTimes = compared(0.25);
const PairedComparison kSame = compared(1);
const PairedComparison kHalf = compared(2);

TEST(FastestOf, IsTheFastestOnTheAverage) {
  EXPECT_EQ(fastest_of(Candidates{{kTwice, kTwice}, {kFourTimes, kTwice}, {kSame, kTwice}}, 2), 1u);
}

// Four times as fast at one size does not make up for half as fast at another.
TEST(FastestOf, IsSlowerUnderNoCondition) {
  EXPECT_EQ(fastest_of(Candidates{{kFourTimes, kHalf}, {kSame, kTwice}}, 2), 1u);
  EXPECT_EQ(fastest_of(Candidates{{kFourTimes, kHalf}, {kSame, kSame}}, 2), std::nullopt);
}

TEST(FastestOf, WasRightUnderEveryCondition) {
  EXPECT_EQ(fastest_of(Candidates{{kFourTimes}, {kTwice, kSame}}, 2), 1u);
  EXPECT_EQ(fastest_of(Candidates{{kFourTimes}}, 2), std::nullopt);
  EXPECT_EQ(fastest_of(Candidates{}, 2), std::nullopt);
}

}  // namespace
}  // namespace hone::tune
