#include "trial/records.h"

#include <gtest/gtest.h>

namespace hone::trial {
namespace {

TEST(TimingOf, SummarisesSamples) {
  const std::vector<double> samples{5, 1, 2, 4, 3, 6, 7};
  const store::Timing timing = timing_of(samples, 8, 2);
  EXPECT_EQ(timing.samples, samples);
  EXPECT_EQ(timing.launches_per_sample, 8);
  EXPECT_EQ(timing.dropped, 2);
  EXPECT_EQ(timing.min, 1);
  EXPECT_EQ(timing.median, 4);
  // Quartiles 2.5 and 5.5 by linear interpolation.
  EXPECT_DOUBLE_EQ(timing.spread, 3.0 / 4);
  // Seven samples: the smallest and the largest cover the median with 98.4 %.
  EXPECT_EQ(timing.low, 1);
  EXPECT_EQ(timing.high, 7);
}

TEST(TimingOf, GivesTheRangeWhereSamplesAreTooFewForAnInterval) {
  const std::vector<double> samples{3, 2};
  EXPECT_EQ(timing_of(samples).low, 2);
  EXPECT_EQ(timing_of(samples).high, 3);
}

TEST(VerificationRow, KeepsTheFirstBadElementRowMajor) {
  measure::Verification wrong;
  wrong.right = false;
  wrong.binding = 1;
  wrong.first_bad = {2, 3};
  wrong.expected = 17;
  wrong.got = 0;
  wrong.bad_share = 0.25;
  wrong.absolute_tolerance = 0.5;
  wrong.relative_tolerance = 0.125;
  std::vector<problem::Binding> bindings(2);
  bindings[1].type = {problem::ElementType::kF32, {4, 10}};
  const store::VerificationRow row = verification_row(wrong, bindings);
  EXPECT_FALSE(row.right);
  EXPECT_EQ(row.bad_binding, 1);
  EXPECT_EQ(row.bad_index, 23);
  EXPECT_EQ(row.expected, "17");
  EXPECT_EQ(row.got, "0");
  EXPECT_EQ(row.share_bad, 0.25);
  EXPECT_EQ(row.absolute_tolerance, 0.5);
  EXPECT_EQ(row.relative_tolerance, 0.125);
}

store::FailureRow failure_of(provider::FailureKind kind, store::Id run) {
  store::FailureRow failure;
  failure.kind = provider::name_of(kind);
  failure.run = run;
  return failure;
}

TEST(Records, AVerdictHoldsAndAnAccidentIsTriedAgain) {
  using provider::FailureKind;
  static constexpr store::Id kBefore = 1, kNow = 2;
  const auto holds = [](FailureKind kind, store::Id run, bool retry_failed) {
    return still_holds(failure_of(kind, run), kNow, retry_failed);
  };
  for (const FailureKind verdict :
       {FailureKind::kCompileError, FailureKind::kCompileCrash, FailureKind::kNotApplied,
        FailureKind::kLoadError, FailureKind::kKernelCrash, FailureKind::kWrong})
    EXPECT_TRUE(holds(verdict, kBefore, true)) << provider::name_of(verdict);
  for (const FailureKind limit :
       {FailureKind::kCompileTimeout, FailureKind::kCompileMemory, FailureKind::kKernelTimeout}) {
    EXPECT_TRUE(holds(limit, kBefore, false));
    EXPECT_FALSE(holds(limit, kBefore, true)) << "--retry-failed";
    EXPECT_TRUE(holds(limit, kNow, true)) << "once in a run";
  }
  for (const FailureKind accident : {FailureKind::kCompileKilled, FailureKind::kKernelKilled}) {
    EXPECT_FALSE(holds(accident, kBefore, false));
    EXPECT_TRUE(holds(accident, kNow, false)) << "once in a run";
  }
}

}  // namespace
}  // namespace hone::trial
