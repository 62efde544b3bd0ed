#include "search/model_search.h"

#include <gmock/gmock.h>

#include "tests/search/searching.h"

namespace hone::search {
namespace {

using space::Configuration;

TEST(RegressionForest, RepeatsWhatItWasTold) {
  std::mt19937_64 generator(1);
  // Two values far apart: every tree cuts somewhere between them, once there are three samples.
  const RegressionForest forest({{0}, {0.1}, {9.9}, {10}}, {1, 1, 5, 5}, generator);
  EXPECT_NEAR(forest.predict({0}).mean, 1, 0.3);
  EXPECT_NEAR(forest.predict({10}).mean, 5, 0.3);
  EXPECT_GT(forest.predict({5}).deviation, forest.predict({0}).deviation);
}

TEST(RegressionForest, IsFlatWhereNothingDiffers) {
  std::mt19937_64 generator(1);
  const RegressionForest forest({{3}, {3}, {3}, {3}}, {1, 2, 3, 6}, generator);
  EXPECT_DOUBLE_EQ(forest.predict({7}).mean, 3);
  // (4 + 1 + 0 + 9) / 4 = 3.5.
  EXPECT_DOUBLE_EQ(forest.predict({7}).deviation, std::sqrt(3.5));
}

TEST(ModelSearch, TriesASpaceToItsEndAndNothingTwice) {
  const space::Space space = cube(4);
  ModelSearch strategy(space, 1);
  EXPECT_EQ(search(strategy, bowl, 1000).tried, 64u);
}

TEST(ModelSearch, GoesOnWhileEveryConfigurationFails) {
  const space::Space space = cube(4);
  ModelSearch strategy(space, 1);
  std::size_t proposed = 0;
  for (auto some = strategy.ask(8); !some.empty(); some = strategy.ask(8)) {
    for (const Configuration& each : some) strategy.tell(each, std::nullopt);
    proposed += some.size();
  }
  EXPECT_EQ(proposed, 64u);
}

TEST(ModelSearch, FindsTheBottomOfABowlInFewerThanRandomSearch) {
  const space::Space space = cube(8);
  std::size_t modelled = 0, drawn = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ModelSearch learning(space, seed);
    RandomSearch blind(space, seed);
    const Searched found = search(learning, bowl, 96);
    EXPECT_EQ(found.best, 1) << "seed " << seed;
    modelled += found.to_best;
    drawn += search(blind, bowl, 512).to_best;
  }
  EXPECT_LT(modelled, drawn / 2);
}

// A prior that says nothing of c: 7 of 8 of its first are wrong, the model finds out.
double without_c(const Configuration& at) {
  Configuration there = at;
  there.values[2] = 6;
  return bowl(there);
}

TEST(ModelSearch, FindsWhatThePriorDoesNotKnow) {
  const space::Space space = cube(8);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ModelSearch strategy(space, seed, without_c);
    EXPECT_EQ(search(strategy, bowl, 64).best, 1) << "seed " << seed;
  }
}

TEST(ModelSearch, ExpectsLessOnceItHasFoundTheBottom) {
  const space::Space space = cube(8);
  ModelSearch strategy(space, 1);
  EXPECT_FALSE(strategy.expected_gain());
  search(strategy, bowl, 24);
  const double early = *strategy.expected_gain();
  search(strategy, bowl, 200);
  EXPECT_LT(*strategy.expected_gain(), early);
}

TEST(ModelSearch, LooksAtAPartOfAHugeSpaceOnly) {
  space::SpaceBuilder builder;
  for (const char* name : {"a", "b", "c"}) builder.knob_range(name, "", 0, 999);
  const space::Space space = builder.build().value();  // a thousand million
  std::size_t calls = 0;
  ModelSearch strategy(space, 1, [&](const Configuration& at) {
    ++calls;
    return 1 + static_cast<double>(at.values[0]);
  });
  for (int round = 0; round < 2; ++round)  // the first sample
    for (const Configuration& each : strategy.ask(8)) strategy.tell(each, 1.0);
  calls = 0;
  EXPECT_EQ(strategy.ask(8).size(), 8u);
  // Random ones, the prior's next, and 3 x 999 neighbours of each leader; no enumeration.
  EXPECT_LE(calls, ModelSearch::kDrawn + ModelSearch::kByPrior + ModelSearch::kLeaders * 2997);
}

}  // namespace
}  // namespace hone::search
