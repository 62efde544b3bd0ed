#include "measure/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hone::measure {
namespace {

using testing::HasSubstr;

TEST(Protocol, GoesThroughJsonAndBack) {
  Protocol protocol;
  protocol.max_samples = 31;
  protocol.target_width = 0.02;
  const nlohmann::json json = protocol;
  EXPECT_EQ(json.get<Protocol>(), protocol);
  EXPECT_EQ(json.at("max_samples"), 31);
  EXPECT_EQ(nlohmann::json::object().get<Protocol>(), Protocol{});
}

TEST(Protocol, SaysWhichFieldIsImpossible) {
  EXPECT_TRUE(check({}));
  EXPECT_THAT(check({.max_samples = 3}).error().message, HasSubstr("max_samples (3)"));
  EXPECT_THAT(check({.warm_up_seconds = -1}).error().message, HasSubstr("warm_up_seconds"));
  EXPECT_THAT(check({.max_warm_up_seconds = 0}).error().message, HasSubstr("max_warm_up_seconds"));
  EXPECT_THAT(check({.min_samples = 0}).error().message, HasSubstr("min_samples"));
  EXPECT_THAT(check({.max_seconds = 0}).error().message, HasSubstr("max_seconds"));
  EXPECT_THAT(check({.target_width = -0.1}).error().message, HasSubstr("target_width"));
  EXPECT_THAT(check({.confidence = 1}).error().message, HasSubstr("confidence"));
  EXPECT_THAT(check({.batch_seconds = -1}).error().message, HasSubstr("batch_seconds"));
  EXPECT_THAT(check({.early_stop_factor = 0.9}).error().message, HasSubstr("early_stop_factor"));
}

TEST(BatchSize, FillsTheBatch) {
  const Protocol protocol{.batch_seconds = 0.002};
  EXPECT_EQ(batch_size(protocol, 0.0003), 7u);  // 6.67
  EXPECT_EQ(batch_size(protocol, 0.5), 1u);
  EXPECT_EQ(batch_size(protocol, 0), 1u);
}

TEST(WarmUp, EndsWhenTimesNoLongerFall) {
  WarmUp warm_up({.warm_up_seconds = 0.01, .max_warm_up_seconds = 1});
  for (const double seconds : {0.009, 0.008, 0.007, 0.006, 0.005, 0.004, 0.003, 0.002}) {
    warm_up.add(seconds);
    EXPECT_FALSE(warm_up.done());
  }
  for (int i = 0; i < 8; ++i) warm_up.add(0.002);  // the last two quarters are alike
  EXPECT_TRUE(warm_up.stable());
  EXPECT_TRUE(warm_up.done());
  EXPECT_DOUBLE_EQ(warm_up.seconds(), 0.06);
}

TEST(WarmUp, LastsItsTimeAndNoLongerThanTheLimit) {
  WarmUp quick({.warm_up_seconds = 0.02});
  for (int i = 0; i < 10; ++i) quick.add(0.001);
  EXPECT_TRUE(quick.stable());
  EXPECT_FALSE(quick.done());  // 0.01 of 0.02 s
  for (int i = 0; i < 11; ++i) quick.add(0.001);
  EXPECT_TRUE(quick.done());

  WarmUp slow({.warm_up_seconds = 0.02, .max_warm_up_seconds = 0.5});
  slow.add(0.6);
  EXPECT_TRUE(slow.done());
  EXPECT_FALSE(slow.stable());
}

TEST(StoppingRule, StopsWhenTheIntervalIsTight) {
  StoppingRule rule({.min_samples = 7, .target_width = 0.005});
  for (int i = 0; i < 6; ++i) EXPECT_EQ(rule.add(1.0, 0.01), Stop::kNo);
  EXPECT_EQ(rule.add(1.0, 0.01), Stop::kTight);
  EXPECT_EQ(rule.samples().size(), 7u);
}

TEST(StoppingRule, GoesOnWhileSamplesScatter) {
  // Two values 10 % apart: the interval of the median spans both, +-5 %.
  StoppingRule rule({.min_samples = 7, .max_samples = 12, .target_width = 0.005});
  for (int i = 0; i < 11; ++i) EXPECT_EQ(rule.add(i % 2 == 0 ? 1.0 : 1.1, 0.01), Stop::kNo) << i;
  EXPECT_EQ(rule.add(1.0, 0.01), Stop::kMaxSamples);
}

TEST(StoppingRule, StopsWhenTheTimeIsSpent) {
  StoppingRule rule({.max_seconds = 2});
  EXPECT_EQ(rule.add(0.9, 0.9), Stop::kNo);
  EXPECT_EQ(rule.add(1.0, 1.0), Stop::kNo);
  EXPECT_EQ(rule.add(1.1, 1.1), Stop::kMaxSeconds);
}

TEST(StoppingRule, GivesUpACandidateThatCannotWinAfterFiveSamples) {
  StoppingRule rule({.early_stop_factor = 1.2}, 1.0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(rule.add(1.5, 0.01), Stop::kNo);
  EXPECT_EQ(rule.add(1.4, 0.01), Stop::kClearlySlower);
}

TEST(StoppingRule, OneFastSampleSavesACandidate) {
  StoppingRule rule({.early_stop_factor = 1.2}, 1.0);
  for (const double seconds : {1.5, 1.5, 1.1, 1.5}) rule.add(seconds, 0.01);
  EXPECT_EQ(rule.add(1.5, 0.01), Stop::kNo);
  // With eight samples the second smallest bounds the median.
  rule.add(1.5, 0.01);
  EXPECT_EQ(rule.add(1.5, 0.01), Stop::kNo);
  EXPECT_EQ(rule.add(1.5, 0.01), Stop::kClearlySlower);
}

TEST(StoppingRule, DoesNotGiveUpWithoutABestOrAFactor) {
  StoppingRule first({.max_samples = 8});
  StoppingRule off({.max_samples = 8, .early_stop_factor = 0}, 1e-9);
  Stop a = Stop::kNo, b = Stop::kNo;
  for (int i = 0; i < 8; ++i) {
    a = first.add(1 + 0.1 * i, 0.01);
    b = off.add(1 + 0.1 * i, 0.01);
  }
  EXPECT_EQ(a, Stop::kMaxSamples);
  EXPECT_EQ(b, Stop::kMaxSamples);
}

TEST(Stop, HasNames) {
  EXPECT_EQ(name_of(Stop::kNo), "not stopped");
  EXPECT_EQ(name_of(Stop::kTight), "tight interval");
  EXPECT_EQ(name_of(Stop::kMaxSamples), "most samples");
  EXPECT_EQ(name_of(Stop::kMaxSeconds), "time spent");
  EXPECT_EQ(name_of(Stop::kClearlySlower), "clearly slower");
}

}  // namespace
}  // namespace hone::measure
