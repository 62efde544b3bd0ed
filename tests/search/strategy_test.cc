#include "search/strategy.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "search/fixed_order.h"

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

// Expects large tiles to be best, and nothing of tile_n = 2.
double large_first(const Configuration& at) {
  if (at.values[1] == 2) return NAN;
  return -static_cast<double>(at.values[0] * at.values[1]);
}

TEST(Prior, ProposesWhatItExpectsToBeBestFirst) {
  const space::Space space = small_space();
  const auto strategy = make_strategy("prior", space, 1, large_first).value();
  const std::vector<Configuration> all = drain(*strategy, 4);
  ASSERT_EQ(all.size(), 13u);
  // 64 elements three times, in enumeration order; those without an estimate at the end.
  EXPECT_EQ(all[0].values, (std::vector<space::Value>{4, 16}));
  EXPECT_EQ(all[1].values, (std::vector<space::Value>{8, 8}));
  EXPECT_EQ(all[2].values, (std::vector<space::Value>{16, 4}));
  EXPECT_EQ(all[12].values, (std::vector<space::Value>{16, 2}));
  EXPECT_EQ(std::set<Configuration>(all.begin(), all.end()).size(), 13u);
}

// The prior likes every one with a = 1 and b = 1 best, and none of them compiles: after three the
// others come, and the rest of these at the end. What works with a = 1 clears it of nothing else.
TEST(Prior, PutsOffWhatHasValuesInCommonWithThoseThatFailed) {
  space::SpaceBuilder builder;
  builder.knob("a", "", {1, 2});
  builder.knob("b", "", {1, 2});
  builder.knob("c", "", {1, 2, 3, 4, 5, 6, 7, 8});
  const space::Space space = builder.build().value();
  const auto strategy =
      make_strategy("prior", space, 1, [](const Configuration& at) {
        return static_cast<double>(100 * (at.values[0] + at.values[1]) + at.values[2]);
      }).value();
  const auto is_refused = [](const Configuration& at) {
    return at.values[0] == 1 && at.values[1] == 1;
  };
  std::vector<Configuration> all;
  for (int i = 0; i < 32; ++i) {
    const std::vector<Configuration> one = strategy->ask(1);
    ASSERT_EQ(one.size(), 1u);
    all.push_back(one.front());
    strategy->tell(one.front(), is_refused(one.front()) ? std::nullopt : std::optional(1.0));
  }
  EXPECT_TRUE(strategy->ask(1).empty());
  EXPECT_EQ(std::set<Configuration>(all.begin(), all.end()).size(), 32u);
  EXPECT_EQ(std::count_if(all.begin(), all.begin() + 3, is_refused), 3);
  EXPECT_EQ(std::count_if(all.begin() + 3, all.end() - 5, is_refused), 0);
}

TEST(Prior, RanksASpaceThatIsTooLargeInParts) {
  space::SpaceBuilder builder;
  for (const char* name : {"a", "b", "c"}) builder.knob_range(name, "", 0, 99);
  const space::Space space = builder.build().value();  // a million
  std::size_t calls = 0;
  PriorSearch strategy(space, 1, [&](const Configuration& at) {
    ++calls;
    return static_cast<double>(at.values[0]);
  });
  const std::vector<Configuration> first = strategy.ask(10);
  EXPECT_EQ(first.size(), 10u);
  EXPECT_EQ(calls, PriorSearch::kDrawn);
  for (const Configuration& each : first) EXPECT_EQ(each.values[0], 0);
}

TEST(Prior, IsAnErrorWithoutAnEstimate) {
  const space::Space space = small_space();
  const auto strategy = make_strategy("prior", space, 1);
  ASSERT_FALSE(strategy);
  EXPECT_EQ(strategy.error().kind, ErrorKind::kInput);
  EXPECT_THAT(strategy.error().message,
              testing::HasSubstr("GEMMs of the provider's own kernels; use auto"));
}

TEST(MakeStrategy, NamesTheNearest) {
  const auto strategy = make_strategy("exhaustiv", small_space(), 1);
  ASSERT_FALSE(strategy);
  EXPECT_EQ(strategy.error().message,
            "'exhaustiv' is no strategy (did you mean 'exhaustive'?); known: auto, "
            "exhaustive, local, model, prior, random");
}

TEST(MakeStrategy, SaysWhatToUseInsteadOfOneThatIsGone) {
  EXPECT_THAT(make_strategy("evolutionary", small_space(), 1).error().message,
              testing::HasSubstr("the model or local was ahead of it"));
}

}  // namespace
}  // namespace hone::search
