// --effort, and the options that override its parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/session_options.h"

namespace hone::session {
namespace {

TEST(Effort, OfAProgramIsTenMinutesAndMostOfTheTime) {
  SessionOptions options;
  ASSERT_TRUE(take_effort(options));
  EXPECT_EQ(options.tuning.budget_seconds, 600);
  EXPECT_EQ(options.tuning.coverage, 0.95);
  EXPECT_EQ(options.tuning.candidates, std::nullopt);
}

TEST(Effort, QuickIsAMinuteAndFullAnHour) {
  SessionOptions options;
  options.effort = "quick";
  ASSERT_TRUE(take_effort(options));
  EXPECT_EQ(options.tuning.budget_seconds, 60);
  EXPECT_EQ(options.tuning.coverage, 0.8);
  EXPECT_EQ(options.tuning.candidates, 40u);
  options = {};
  options.effort = "full";
  ASSERT_TRUE(take_effort(options));
  EXPECT_EQ(options.tuning.budget_seconds, 3600);
  EXPECT_EQ(options.tuning.coverage, 1);
}

TEST(Effort, IsPerDispatchOfAListUnlessABudgetIsGiven) {
  SessionOptions options;
  ASSERT_TRUE(take_effort(options, 7));
  EXPECT_EQ(options.tuning.budget_seconds, 7 * 20);
  options.budget = "90s";
  ASSERT_TRUE(take_effort(options, 7));
  EXPECT_EQ(options.tuning.budget_seconds, 90);
}

TEST(Effort, EachPartCanBeOverridden) {
  SessionOptions options;
  options.effort = "quick";
  options.budget = "2h";
  options.coverage = "50%";
  options.tuning.candidates = 7;
  ASSERT_TRUE(take_effort(options));
  EXPECT_EQ(options.tuning.budget_seconds, 7200);
  EXPECT_EQ(options.tuning.coverage, 0.5);
  EXPECT_EQ(options.tuning.candidates, 7u);
}

// --top limits the number of dispatches instead of their share.
TEST(Effort, LeavesTheShareToTop) {
  SessionOptions options;
  options.top = 3;
  options.tuning.coverage = 1;
  ASSERT_TRUE(take_effort(options));
  EXPECT_EQ(options.tuning.most_dispatches, 3u);
  EXPECT_EQ(options.tuning.coverage, 1);
  options.budget = "soon";
  EXPECT_THAT(take_effort(options).error().message, testing::HasSubstr("'soon' is no duration"));
}

}  // namespace
}  // namespace hone::session
