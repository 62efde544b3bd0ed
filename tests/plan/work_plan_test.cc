#include "plan/work_plan.h"

#include <gmock/gmock.h>

namespace hone::plan {
namespace {

using testing::HasSubstr;
using testing::Not;

// Four dispatches of 80, 15, 4.5 and 0.5 ms, all of which may be gained; each needs 8 seconds.
WorkPlan four(double seconds, bool everything = false) {
  WorkPlan plan(everything);
  for (const auto& [name, share] : {std::pair("small", 4.5), std::pair("heavy", 80.0),
                                    std::pair("tiny", 0.5), std::pair("middle", 15.0)})
    plan.add({name, {share, share, 8}});
  plan.deal(seconds);
  return plan;
}

TEST(WorkPlan, TakesFirstWhatMayGainMost) {
  WorkPlan plan = four(1000);
  std::vector<std::string> order;
  while (const auto next = plan.next()) {
    order.push_back(plan.items()[*next].name);
    plan.finish(*next);
  }
  EXPECT_THAT(order, testing::ElementsAre("heavy", "middle", "small", "tiny"));
}

TEST(WorkPlan, DealsTimeByGainAboveWhatEachNeeds) {
  const WorkPlan plan = four(1000);
  // 1000 - 4 x 8 = 968 seconds by gain.
  EXPECT_DOUBLE_EQ(plan.seconds_for(1, 1000), 8 + 968 * 0.8);
  EXPECT_DOUBLE_EQ(plan.seconds_for(2, 1000), 8 + 968 * 0.005);
}

TEST(WorkPlan, LeavesOutWhatItsPartWouldNotPayFor) {
  // Of 60 seconds: 0.5 % are 0.3, 4.5 % (of what is left without tiny) 2.7, below the half of 8;
  // 15 of 95 are 9.5.
  const WorkPlan plan = four(60);
  EXPECT_EQ(plan.count(State::kLeftOut), 2u);
  EXPECT_DOUBLE_EQ(plan.share_of(State::kLeftOut), 0.05);
  EXPECT_DOUBLE_EQ(plan.seconds_for(1, 60), 8 + 44 * 80 / 95.0);
  EXPECT_THAT(plan.describe("dispatches", 60), HasSubstr("plan: 2 of 4 dispatches"));
  EXPECT_THAT(plan.describe("dispatches", 60),
              HasSubstr("2 keep their defaults, 5.0 % of the time"));
  EXPECT_THAT(plan.describe("dispatches", 60), Not(HasSubstr("too small")));
}

// As above, but three quarters of the time may go to first tries.
TEST(WorkPlan, TriesWhatTakesAThousandthOfTheTimeWhereThatIsCheap) {
  const auto kept = [](double tiny, double seconds) {
    WorkPlan plan(false, 0.75);
    for (const double share : {80.0, 15.0, 4.5, tiny}) plan.add({"", {share, 0.9 * share, 8}});
    plan.deal(seconds);
    return plan.count(State::kWaiting);
  };
  EXPECT_EQ(kept(0.5, 60), 4u);    // 4 x 8 of 45
  EXPECT_EQ(kept(0.5, 40), 3u);    // of 30
  EXPECT_EQ(kept(0.005, 60), 3u);  // 0.05 % of the 10 that all take at best
  EXPECT_EQ(kept(0.5, 20), 1u);    // of 15
}

// Two items of 90 and 10 of the time, of which 89 and 5 are gained with the first tries: 1 and 5
// are left. Each needs 8 of 28 seconds; the other 12 are split 1 to 5.
TEST(WorkPlan, SplitsTimeByWhatIsLeftWhereFirstTriesBringMostOfTheGain) {
  WorkPlan plan(false, 0.75);
  plan.add({"first", {90, 89, 8}});
  plan.add({"second", {10, 5, 8}});
  plan.limit(0.9, 9);  // the first takes as much now, the second later
  plan.deal(28);
  EXPECT_EQ(plan.count(State::kWaiting), 2u);
  EXPECT_DOUBLE_EQ(plan.seconds_for(0, 28), 8 + 2);
  EXPECT_DOUBLE_EQ(plan.seconds_for(1, 28), 8 + 10);
}

TEST(WorkPlan, KeepsWhatIsWorthATryBeyondTheCoverage) {
  for (const auto& [coverage, kept] : {std::pair{0.95, 2}, {0.9, 1}}) {
    WorkPlan plan(false, 0.75);
    plan.add({"heavy", {99, 49, 1}});
    plan.add({"light", {0.9, 0.8, 1}});
    plan.add({"next to nothing", {0.04, 0.04, 1}});  // of 50.1 at best
    plan.limit(coverage, 9);
    EXPECT_EQ(plan.count(State::kWaiting), static_cast<std::size_t>(kept));
  }
}

// One item takes 1000 of the time and 1 at best; all others 12 and 6.
TEST(WorkPlan, TriesWhatAHugeGainWouldHide) {
  WorkPlan plan(false, 0.75);
  plan.add({"slow by default", {1000, 999, 8}});
  plan.add({"other", {11.5, 6, 8}});
  plan.add({"small", {0.5, 0.25, 8}});
  plan.deal(60);
  EXPECT_EQ(plan.count(State::kWaiting), 3u);
}

TEST(WorkPlan, KeepsOneHoweverShortTheTimeIs) {
  const WorkPlan plan = four(1);
  EXPECT_EQ(plan.count(State::kWaiting), 1u);
  EXPECT_EQ(plan.next(), 1u);
  EXPECT_DOUBLE_EQ(plan.seconds_for(1, 1), 1);
}

TEST(WorkPlan, DealsOutAgainWhatWasNotUsed) {
  WorkPlan plan = four(60);
  plan.finish(1);  // after 5 of its 45 seconds
  plan.deal(55);
  EXPECT_EQ(plan.count(State::kLeftOut), 1u);  // 4.5 of 20 are 12 seconds, 0.5 of 20 are 1.4
  EXPECT_DOUBLE_EQ(plan.seconds_for(3, 55), 8 + 39 * 15 / 19.5);
}

TEST(WorkPlan, KnowsWhatComesNextButOne) {
  WorkPlan plan = four(60);
  EXPECT_EQ(plan.next(), 1u);
  EXPECT_THAT(plan.next_after(1, 2), testing::ElementsAre(3u));
  plan.finish(3);
  EXPECT_THAT(plan.next_after(1, 2), testing::IsEmpty());
}

TEST(WorkPlan, EndsWithItsTime) {
  WorkPlan plan = four(60);
  plan.finish(1);
  plan.deal(3);  // less than the half of 8
  EXPECT_EQ(plan.next(), std::nullopt);
  EXPECT_EQ(plan.count(State::kLeftOut), 3u);
}

// Three GEMMs that a user listed, which need 9 seconds each.
TEST(WorkPlan, KeepsToTheHeaviestThatTheUserAskedFor) {
  const auto waiting_with = [](double coverage, std::size_t most) {
    WorkPlan plan(false);
    plan.add({"a", {70, 70, 1}});
    plan.add({"b", {5, 5, 1}});
    plan.add({"c", {25, 25, 1}});
    plan.limit(coverage, most);
    plan.deal(1e6);
    return std::pair(plan.count(State::kWaiting), plan.share_of(State::kBeyond));
  };
  EXPECT_EQ(waiting_with(1, 9), std::pair(std::size_t{3}, 0.0));
  EXPECT_EQ(waiting_with(0.95, 9), std::pair(std::size_t{2}, 0.05));
  EXPECT_EQ(waiting_with(0.5, 9), std::pair(std::size_t{1}, 0.3));
  EXPECT_EQ(waiting_with(1, 1), std::pair(std::size_t{1}, 0.3));
}

// The first took 90 of 100 ms; tuned it takes 1, and of the 11 that are left the second has 6.
TEST(WorkPlan, TakesUpWhatMattersOnceTheHeaviestIsFast) {
  WorkPlan plan(false);
  plan.add({"a", {90, 90, 1}});
  plan.add({"b", {6, 6, 1}});
  plan.add({"c", {4, 4, 1}});
  plan.limit(0.5, 9);
  EXPECT_EQ(plan.count(State::kWaiting), 1u);
  plan.finish(0, 90);
  EXPECT_FALSE(plan.widen(0.5)) << "it takes what it took";
  plan.finish(0, 1);
  EXPECT_TRUE(plan.widen(0.5));
  plan.deal(1e6);
  EXPECT_EQ(*plan.next(), 1u);
  EXPECT_EQ(plan.count(State::kBeyond), 1u);
  plan.finish(1, 6);
  EXPECT_FALSE(plan.widen(0.5));
  EXPECT_TRUE(plan.widen(0.95));
}

TEST(WorkPlan, WhatAUserNamesIsNotLimited) {
  WorkPlan plan(true);
  plan.add({"a", {70, 70, 1}});
  plan.add({"b", {5, 5, 1}});
  plan.limit(0.5, 1);
  EXPECT_EQ(plan.count(State::kWaiting), 2u);
}

TEST(WorkPlan, SaysBeforehandThatABudgetIsTooSmall) {
  WorkPlan plan(/*everything=*/true);
  for (const char* name : {"a", "b", "c"}) plan.add({name, {1, 1, 9}});
  plan.deal(10);
  EXPECT_EQ(plan.count(State::kWaiting), 3u);
  EXPECT_DOUBLE_EQ(plan.enough_for(0.95), 27);
  EXPECT_NEAR(plan.seconds_for(0, 10), 10 / 3.0, 1e-9);
  EXPECT_THAT(
      plan.describe("GEMMs", 10),
      HasSubstr("the budget is too small: preparing, a few candidates of each and telling "
                "them apart take about 27 s for all of them, and there are 10; --budget 30s"));
  // Half of a budget is for something else.
  WorkPlan half(/*everything=*/true);
  half.add({"a", {1, 1, 27}});
  EXPECT_THAT(half.describe("GEMMs", 5, 0.5), HasSubstr("--budget 55s would do"));
}

// 0.5 ms of 100 are not among the 95 %.
TEST(WorkPlan, KnowsWhatWouldBeEnough) {
  EXPECT_DOUBLE_EQ(four(60).enough_for(0.95), 2 * 8);
  EXPECT_DOUBLE_EQ(four(60).enough_for(0.99), 3 * 8);
  EXPECT_EQ(as_budget(27), "30s");
  EXPECT_EQ(as_budget(601), "11m");
}

// Tuned before, the second takes 10 of its 90 and may gain 1 more.
TEST(WorkPlan, WhatIsKnownComesAfterWhatMayGainMore) {
  WorkPlan plan(false);
  plan.add({"a", {6, 5, 1}});
  plan.add({"b"});
  plan.weigh(1, {90, 1, 1}, 10);
  plan.limit(0.95, 9);
  plan.deal(2);
  EXPECT_EQ(plan.next(), 0u);
  EXPECT_EQ(plan.items()[1].state, State::kLeftOut);
  const std::string text = plan.describe("dispatches", 2);
  EXPECT_THAT(text, HasSubstr("1 keep what an earlier run found"));
  EXPECT_THAT(text, testing::Not(HasSubstr("keep their defaults")));
}

// Three quarters of the time, of which nothing can be saved.
TEST(WorkPlan, WhatCanGainNothingIsLeftOutHoweverLong) {
  WorkPlan plan(false);
  plan.add({"softmax", {6, 0, 1}});
  plan.add({"matmul", {2, 1, 1}});
  plan.deal(1000);
  EXPECT_EQ(plan.items()[0].state, State::kLeftOut);
  EXPECT_EQ(plan.seconds_for(1, 1000), 1000);
  EXPECT_EQ(plan.enough_for(1), 1);
  plan.finish(1);
  plan.deal(1000);
  EXPECT_FALSE(plan.next());
}

TEST(WorkPlan, WhatCanGainNothingIsDoneWhereNoOtherCanEither) {
  WorkPlan alike(false), named(true);
  alike.add({"softmax", {6, 0, 1}});
  alike.add({"another softmax", {5, 0, 1}});
  alike.deal(10);
  EXPECT_EQ(alike.next(), 0u);
  alike.finish(0);
  alike.deal(5);
  EXPECT_EQ(alike.next(), 1u);
  named.add({"matmul", {2, 1, 1}});
  named.add({"softmax", {6, 0, 1}});
  named.deal(10);
  named.finish(0);
  EXPECT_EQ(named.next(), 1u);
}

TEST(WorkPlan, WhatIsFinishedIsNotDoneAgain) {
  WorkPlan plan = four(1000);
  plan.finish(1);
  EXPECT_EQ(plan.next(), 3u);
  EXPECT_THAT(plan.describe("dispatches", 60), HasSubstr("1 were finished before"));
}

}  // namespace
}  // namespace hone::plan
