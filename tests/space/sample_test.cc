#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/space/known_spaces.h"

namespace hone::space {
namespace {

// Ten tiles whose product is at most 64, thinned so that the product of the domains is far from
// the count: values are not equally frequent, configurations are.
SpaceBuilder uneven() {
  SpaceBuilder builder;
  const Expression a = builder.knob("a", "", {1, 2, 4, 8, 16, 32});
  const Expression b = builder.knob("b", "", {1, 2, 4, 8, 16, 32});
  const Expression threads = builder.knob_range("threads", "", 0, 4096);
  builder.require("small", "a * b <= 64", a * b <= 64);
  builder.require("threads", "threads == a * b * 32", threads == a * b * 32);
  return builder;
}

// Pearson's statistic of `draws` samples against the uniform distribution.
double chi_square(const Space& space, std::uint64_t seed, int draws) {
  std::mt19937_64 generator(seed);
  std::map<Configuration, int> seen;
  Enumerator enumerator = space.enumerate();
  while (auto configuration = enumerator.next()) seen[*configuration] = 0;
  for (int i = 0; i < draws; ++i) {
    const auto configuration = space.sample(generator);
    const auto place = seen.find(*configuration);
    if (place == seen.end()) return 1e9;
    ++place->second;
  }
  const double expected = static_cast<double>(draws) / static_cast<double>(seen.size());
  double statistic = 0;
  for (const auto& [configuration, count] : seen) {
    statistic += (count - expected) * (count - expected) / expected;
  }
  return statistic;
}

// The pairs of exponents in 0..5 with a sum of at most 6: 36 less 10.
constexpr std::uint64_t kUneven = 26;
// 99.9 % quantile of chi-square with 25 degrees of freedom (Abramowitz and Stegun, table 26.8).
constexpr double kQuantile25 = 52.620;

TEST(Samples, AreUniformOverTheConfigurations) {
  const auto space = uneven().build();
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->count().value, kUneven);
  EXPECT_LT(chi_square(*space, 42, 26000), kQuantile25);
}

TEST(Samples, AreUniformByRejectionAboveTheMemoryCap) {
  const auto space = uneven().build({.memory_cap = 0});
  ASSERT_TRUE(space);
  EXPECT_FALSE(space->count().exact);
  EXPECT_EQ(space->count().value, 36u);  // the product of the domains that are tried
  EXPECT_LT(chi_square(*space, 42, 26000), kQuantile25);
}

TEST(Samples, AboveTheMemoryCapTheIndexIsRefusedInWords) {
  const auto space = uneven().build({.memory_cap = 0});
  const auto configuration = space->at(3);
  ASSERT_FALSE(configuration);
  EXPECT_EQ(configuration.error().kind, ErrorKind::kFailure);
  EXPECT_NE(configuration.error().message.find("memory cap"), std::string::npos);
}

TEST(Samples, AreDifferentAndTheSameForTheSameSeed) {
  const auto space = known::tile_and_fuse({256, 256, 128}).build();
  const auto first = space->samples(500, 7);
  ASSERT_TRUE(first);
  EXPECT_EQ(std::set<Configuration>(first->begin(), first->end()).size(), 500u);
  EXPECT_EQ(*first, *space->samples(500, 7));
  EXPECT_NE(*first, *space->samples(500, 8));
  for (const Configuration& configuration : *first) EXPECT_TRUE(space->is_legal(configuration));
}

TEST(Samples, AreAllConfigurationsWhereMoreAreWanted) {
  for (const std::size_t cap : {SpaceOptions{}.memory_cap, std::size_t{0}}) {
    const auto space = uneven().build({.memory_cap = cap});
    const auto all = space->samples(cap == 0 ? kUneven : 1000, 1);
    ASSERT_TRUE(all);
    EXPECT_EQ(std::set<Configuration>(all->begin(), all->end()).size(), kUneven);
  }
}

TEST(Samples, OfAnEmptySpaceAreAFailure) {
  SpaceBuilder builder;
  const Expression a = builder.knob("a", "", {1, 2, 3});
  builder.require("none", "", a * a == 5);
  const auto space = builder.build();
  ASSERT_TRUE(space);
  EXPECT_TRUE(space->empty());
  std::mt19937_64 generator(1);
  const auto configuration = space->sample(generator);
  ASSERT_FALSE(configuration);
  EXPECT_NE(configuration.error().message.find("empty"), std::string::npos);
  EXPECT_TRUE(space->samples(3, 1)->empty());
}

}  // namespace
}  // namespace hone::space
