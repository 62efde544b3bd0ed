#include "tune/joint_verdict.h"

#include <gtest/gtest.h>

#include <vector>

namespace hone::tune {
namespace {

using measure::PairedComparison;
using measure::Verdict;

Verdict joint(const std::vector<Verdict>& verdicts) {
  std::vector<PairedComparison> comparisons;
  for (const Verdict verdict : verdicts) comparisons.push_back({.verdict = verdict});
  return joint_verdict(comparisons);
}

TEST(JointVerdict, IsFasterWhereItIsSoOnceAndNeverSlower) {
  EXPECT_EQ(joint({Verdict::kFaster, Verdict::kNoDifferent}), Verdict::kFaster);
  EXPECT_EQ(joint({Verdict::kNoDifferent, Verdict::kSlower}), Verdict::kSlower);
  EXPECT_EQ(joint({Verdict::kFaster, Verdict::kSlower, Verdict::kFaster}), Verdict::kNoDifferent);
  EXPECT_EQ(joint({Verdict::kNoDifferent, Verdict::kNoDifferent}), Verdict::kNoDifferent);
}

TEST(JointVerdict, OfOneComparisonIsItsOwn) {
  for (const Verdict verdict : {Verdict::kFaster, Verdict::kSlower, Verdict::kNoDifferent})
    EXPECT_EQ(joint({verdict}), verdict);
}

// Half the time at one size and twice at the other is nothing on the average.
TEST(MeanRatio, IsGeometric) {
  EXPECT_DOUBLE_EQ(mean_ratio(std::vector<PairedComparison>{{.ratio = 0.5}, {.ratio = 2}}), 1);
  EXPECT_DOUBLE_EQ(mean_ratio(std::vector<PairedComparison>{{.ratio = 0.25}, {.ratio = 1}}), 0.5);
}

using Candidates = std::vector<std::vector<PairedComparison>>;
const PairedComparison kTwice{.verdict = Verdict::kFaster, .ratio = 0.5};
const PairedComparison kFourTimes{.verdict = Verdict::kFaster, .ratio = 0.25};
const PairedComparison kSame{.verdict = Verdict::kNoDifferent, .ratio = 1};
const PairedComparison kHalf{.verdict = Verdict::kSlower, .ratio = 2};

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
