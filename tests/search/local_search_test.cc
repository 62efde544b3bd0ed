#include <gmock/gmock.h>

#include "search/learning_search.h"
#include "tests/search/searching.h"

namespace hone::search {
namespace {

using space::Configuration;

struct Found {
  double best = 1e9;
  std::size_t tried = 0;
};

Found search(const space::Space& space, std::uint64_t seed, double (*score)(const Configuration&)) {
  LocalSearch strategy(space, seed);
  Found found;
  std::set<Configuration> seen;
  while (true) {
    const std::vector<Configuration> proposals = strategy.ask(8);
    if (proposals.empty()) return found;
    for (const Configuration& proposal : proposals) {
      EXPECT_TRUE(seen.insert(proposal).second) << "proposed twice";
      strategy.tell(proposal, score(proposal));
      found.best = std::min(found.best, score(proposal));
      ++found.tried;
    }
  }
}

TEST(LocalSearch, FindsTheBottomOfABowlAndStops) {
  const space::Space space = cube(8);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Found found = search(space, seed, bowl);
    EXPECT_EQ(found.best, 1) << "seed " << seed;
    // 32 random ones, some 90 neighbours on the way down, 16 and their neighbours to be sure.
    EXPECT_LT(found.tried, 250u) << "seed " << seed;
  }
}

TEST(LocalSearch, BeginsWithWhatThePriorPutsFirstAndNoTwoNeighboursOfIt) {
  const space::Space space = cube(8);
  LocalSearch strategy(space, 1, bowl);
  const std::vector<Configuration> sample = strategy.ask(LocalSearch::kFirstSample);
  ASSERT_EQ(sample.size(), LocalSearch::kFirstSample);
  EXPECT_EQ(sample[0].values, (std::vector<space::Value>{5, 2, 6}));
  const std::size_t by_prior = LocalSearch::kFirstSample - LocalSearch::kRandom;
  for (std::size_t i = 1; i < by_prior; ++i) {
    EXPECT_GE(bowl(sample[i]), bowl(sample[i - 1]));
    for (std::size_t j = 0; j < i; ++j) {
      int differences = 0;
      for (std::size_t knob = 0; knob < 3; ++knob)
        differences += sample[i].values[knob] != sample[j].values[knob];
      EXPECT_GE(differences, 2);
    }
  }
}

TEST(LocalSearch, FindsTheBottomWhereThePriorIsWrong) {
  const space::Space space = cube(8);
  LocalSearch strategy(space, 1, [](const Configuration& at) { return -bowl(at); });
  double best = 1e9;
  while (true) {
    const std::vector<Configuration> proposals = strategy.ask(8);
    if (proposals.empty()) break;
    for (const Configuration& proposal : proposals) {
      strategy.tell(proposal, bowl(proposal));
      best = std::min(best, bowl(proposal));
    }
  }
  EXPECT_EQ(best, 1);
}

TEST(LocalSearch, EndsWithASpaceSmallerThanItsFirstSample) {
  space::SpaceBuilder builder;
  builder.knob("a", "", {1, 2, 3});
  const space::Space space = builder.build().value();
  EXPECT_EQ(
      search(space, 1, [](const Configuration& at) { return static_cast<double>(at.values[0]); })
          .tried,
      3u);
}

TEST(LocalSearch, GoesOnWhileEveryConfigurationFails) {
  const space::Space space = cube(8);
  LocalSearch strategy(space, 3);
  std::size_t proposed = 0;
  for (auto some = strategy.ask(64); !some.empty(); some = strategy.ask(64)) {
    for (const Configuration& each : some) strategy.tell(each, std::nullopt);
    proposed += some.size();
  }
  EXPECT_EQ(proposed, 512u);
}

TEST(LocalSearch, ProposesNeighboursOfTheBestAfterItsSample) {
  const space::Space space = cube(8);
  LocalSearch strategy(space, 4);
  std::vector<Configuration> sample = strategy.ask(LocalSearch::kFirstSample);
  ASSERT_EQ(sample.size(), LocalSearch::kFirstSample);
  for (std::size_t i = 0; i < sample.size(); ++i)
    strategy.tell(sample[i], static_cast<double>(i + 1));
  const std::vector<Configuration> next = strategy.ask(1);
  ASSERT_EQ(next.size(), 1u);
  int different = 0;
  for (std::size_t knob = 0; knob < 3; ++knob)
    different += next[0].values[knob] != sample[0].values[knob];
  EXPECT_EQ(different, 1);
}

}  // namespace
}  // namespace hone::search
