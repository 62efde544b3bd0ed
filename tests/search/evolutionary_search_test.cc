#include "search/evolutionary_search.h"

#include <gmock/gmock.h>

#include "tests/search/searching.h"

namespace hone::search {
namespace {

using space::Configuration;

TEST(EvolutionarySearch, TriesASpaceToItsEndAndNothingTwice) {
  const space::Space space = cube(4);
  EvolutionarySearch strategy(space, 1);
  EXPECT_EQ(search(strategy, bowl, 1000).tried, 64u);
}

TEST(EvolutionarySearch, GoesOnWhileEveryConfigurationFails) {
  const space::Space space = cube(4);
  EvolutionarySearch strategy(space, 1);
  std::size_t proposed = 0;
  for (auto some = strategy.ask(8); !some.empty(); some = strategy.ask(8)) {
    for (const Configuration& each : some) strategy.tell(each, std::nullopt);
    proposed += some.size();
  }
  EXPECT_EQ(proposed, 64u);
}

TEST(EvolutionarySearch, FindsTheBottomOfABowlInFewerThanRandomSearch) {
  const space::Space space = cube(8);
  std::size_t evolved = 0, drawn = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EvolutionarySearch learning(space, seed);
    RandomSearch blind(space, seed);
    evolved += search(learning, bowl, 512).to_best;
    drawn += search(blind, bowl, 512).to_best;
  }
  // Random search finds one of 512 after 256.5 on average; over 20 seeds 5130.
  EXPECT_LT(evolved, drawn / 2);
}

TEST(EvolutionarySearch, BeginsWithWhatThePriorPutsFirst) {
  const space::Space space = cube(8);
  EvolutionarySearch strategy(space, 1, bowl);
  EXPECT_THAT(strategy.ask(1).front().values, testing::ElementsAre(5, 2, 6));
}

}  // namespace
}  // namespace hone::search
