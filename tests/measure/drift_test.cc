#include "measure/drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::measure {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Sentinel, IsInterpolatedInTime) {
  const std::vector<TimedRun> sentinels{{0, 1.0}, {10, 2.0}, {20, 2.0}};
  EXPECT_DOUBLE_EQ(sentinel_at(sentinels, 2.5), 1.25);
  EXPECT_DOUBLE_EQ(sentinel_at(sentinels, 15), 2);
  EXPECT_DOUBLE_EQ(sentinel_at(sentinels, -1), 1);
  EXPECT_DOUBLE_EQ(sentinel_at(sentinels, 99), 2);
}

TEST(Drift, ASlowlyWarmingMachineDoesNotChangeTheRanking) {
  // 2 % slower from one sentinel to the next; both candidates truly take half of its time.
  const std::vector<TimedRun> sentinels{{0, 1.00}, {10, 1.02}, {20, 1.04}, {30, 1.06}};
  const std::vector<TimedRun> candidates{{5, 0.505}, {25, 0.525}};
  const auto report = correct_drift(candidates, sentinels);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->ratios, ElementsAre(DoubleEq(0.5), DoubleEq(0.5)));
  EXPECT_DOUBLE_EQ(report->reference_seconds, 1.03);
  EXPECT_THAT(report->corrected_seconds, ElementsAre(DoubleEq(0.515), DoubleEq(0.515)));
  EXPECT_DOUBLE_EQ(report->trend, 1.06 - 1);
  EXPECT_TRUE(report->drifting);  // 6 % in all, though no step of it is large
  EXPECT_THAT(report->repeat, IsEmpty());
}

TEST(Drift, CandidatesAroundAJumpAreRepeated) {
  const std::vector<TimedRun> sentinels{{0, 1.0}, {10, 1.0}, {20, 2.0}, {30, 2.0}, {40, 1.0}};
  const std::vector<TimedRun> candidates{{5, 0.5}, {15, 0.9}, {25, 1.0}, {35, 0.6}, {45, 0.5}};
  const auto report = correct_drift(candidates, sentinels);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->repeat, ElementsAre(1, 3));
  EXPECT_DOUBLE_EQ(report->ratios[2], 0.5);  // slow throughout: the ratio holds
  EXPECT_TRUE(report->drifting);
}

TEST(Drift, AQuietMachineDoesNotDrift) {
  const std::vector<TimedRun> sentinels{{0, 1.0}, {10, 1.005}, {20, 0.995}};
  const auto report = correct_drift({}, sentinels);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->drifting);
  EXPECT_NEAR(report->cov, 0.005, 1e-12);
}

TEST(Drift, NeedsAValidSentinel) {
  EXPECT_THAT(correct_drift({}, {}).error().message, HasSubstr("sentinel was never measured"));
  const std::vector<TimedRun> reversed{{10, 1}, {0, 1}}, fine{{0, 1}}, zero{{0, 0}};
  EXPECT_THAT(correct_drift({}, reversed).error().message, HasSubstr("sentinel run 1"));
  EXPECT_THAT(correct_drift(zero, fine).error().message, HasSubstr("candidate 0"));
}

}  // namespace
}  // namespace hone::measure
