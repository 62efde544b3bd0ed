#include <gmock/gmock.h>

#include "search/strategy.h"

namespace hone::search {
namespace {

TEST(AutoChoice, GoesBySizeBudgetAndPrior) {
  struct Row {
    std::uint64_t count;
    bool exact;
    std::size_t candidates;
    bool has_prior, compiles_ahead;
    std::string_view strategy;
  };
  for (const Row& row : {
           Row{32, true, 500, true, false, "exhaustive"},
           {32, true, 31, true, false, "model"},    // not all of them can be tried
           {32, false, 500, true, false, "model"},  // there may be fewer, nobody knows
           {33, true, 500, true, false, "model"},
           {600, true, 11, true, false, "prior"},  // less than the model's first sample
           {600, true, 11, false, false, "random"},
           {600, true, 12, false, false, "model"},
           {1'000'000'000, true, 900, true, false, "model"},
           {1'000'000'000, true, 900, true, true, "local"},
       })
    EXPECT_EQ(
        choose_strategy({{row.count, row.exact}, row.candidates, row.has_prior, row.compiles_ahead})
            .strategy,
        row.strategy)
        << row.count << " of which " << row.candidates;
}

TEST(AutoChoice, SaysWhy) {
  EXPECT_EQ(choose_strategy({{600, true}, 900, true, false}).why,
            "600 configurations, begun by the estimate");
  EXPECT_EQ(choose_strategy({{600, true}, 5, false, false}).why,
            "600 configurations, of which 5 can be tried: too few to learn from");
}

TEST(StopRule, StopsInTheSecondRoundBelowTheNoise) {
  StopRule rule(0.009);
  EXPECT_FALSE(rule.stops(24, 0.02));
  EXPECT_FALSE(rule.stops(32, 0.008));
  EXPECT_TRUE(rule.stops(40, 0.004));
  EXPECT_EQ(rule.reason(), "expected gain 0.4 % below noise 0.9 %");
}

TEST(StopRule, BeginsAgainAfterARoundAboveTheNoise) {
  StopRule rule(0.01);
  EXPECT_FALSE(rule.stops(24, 0.005));
  EXPECT_FALSE(rule.stops(32, 0.05));
  EXPECT_FALSE(rule.stops(40, 0.005));
  EXPECT_TRUE(rule.stops(48, 0.005));
}

// A machine that tells 5 % in 30 rounds only: a gain of 2 % is still worth a try.
TEST(StopRule, DoesNotStopEarlierOnANoisierMachine) {
  StopRule rule(0.05);
  EXPECT_FALSE(rule.stops(24, 0.02));
  EXPECT_FALSE(rule.stops(32, 0.02));
  EXPECT_FALSE(rule.stops(40, 0.009));
  EXPECT_TRUE(rule.stops(48, 0.009));
  EXPECT_EQ(rule.reason(), "expected gain 0.9 % below noise 1.0 %");
}

TEST(StopRule, WaitsForAFewestOfConfigurations) {
  StopRule rule(0.01);
  for (std::size_t tried = 0; tried < StopRule::kFewest; tried += 8)
    EXPECT_FALSE(rule.stops(tried, 0.0));
  EXPECT_TRUE(rule.stops(StopRule::kFewest, 0.0));
}

TEST(StopRule, NeverStopsWhatExpectsNothing) {
  StopRule rule(0.01);
  for (std::size_t tried = 0; tried < 1000; tried += 8)
    EXPECT_FALSE(rule.stops(tried, std::nullopt));
}

}  // namespace
}  // namespace hone::search
