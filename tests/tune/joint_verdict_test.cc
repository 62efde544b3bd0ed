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

}  // namespace
}  // namespace hone::tune
