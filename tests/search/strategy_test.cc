#include "search/strategy.h"

#include <gmock/gmock.h>

#include <set>

namespace hone::search {
namespace {

using space::Configuration;

// 4 x 4 tiles of which 10 have tile_m * tile_n <= 64.
space::Space small_space() {
  space::SpaceBuilder builder;
  const auto m = builder.knob("tile_m", "", {2, 4, 8, 16});
  const auto n = builder.knob("tile_n", "", {2, 4, 8, 16});
  builder.require("registers", "tile_m * tile_n is at most 64", m * n <= space::constant(64));
  return builder.build().value();
}

std::vector<Configuration> drain(Strategy& strategy, std::size_t batch) {
  std::vector<Configuration> all;
  while (true) {
    const std::vector<Configuration> some = strategy.ask(batch);
    if (some.empty()) return all;
    EXPECT_LE(some.size(), batch);
    all.insert(all.end(), some.begin(), some.end());
  }
}

TEST(Exhaustive, ProposesTheWholeSpaceInItsOrder) {
  const space::Space space = small_space();
  ASSERT_EQ(space.count().value, 13u);
  const auto strategy = make_strategy("exhaustive", space, 1).value();
  const std::vector<Configuration> all = drain(*strategy, 4);
  ASSERT_EQ(all.size(), 13u);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], space.at(i).value());
}

TEST(Random, ProposesEachConfigurationOnce) {
  const space::Space space = small_space();
  const auto strategy = make_strategy("random", space, 7).value();
  const std::vector<Configuration> all = drain(*strategy, 3);
  EXPECT_EQ(all.size(), 13u);
  EXPECT_EQ(std::set<Configuration>(all.begin(), all.end()).size(), 13u);
}

TEST(Random, FollowsItsSeed) {
  const space::Space space = small_space();
  const auto order = [&](std::uint64_t seed) {
    return drain(*make_strategy("random", space, seed).value(), 13);
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST(MakeStrategy, NamesTheNearest) {
  const auto strategy = make_strategy("exhaustiv", small_space(), 1);
  ASSERT_FALSE(strategy);
  EXPECT_EQ(strategy.error().message,
            "'exhaustiv' is no strategy (did you mean 'exhaustive'?); known: exhaustive, local, random");
}

}  // namespace
}  // namespace hone::search
