#include "measure/race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::measure {
namespace {

using testing::ElementsAre;

// Rounds in which the machine is faster and slower by up to 2 %, all alike.
Status run(Race& race, const std::vector<double>& truth, std::size_t rounds) {
  for (std::size_t r = 0; r < rounds && !race.is_over(); ++r) {
    const double machine = 1 + 0.01 * static_cast<double>(r % 3);
    std::vector<double> seconds;
    for (const std::size_t candidate : race.running())
      seconds.push_back(machine * truth[candidate]);
    seconds.push_back(machine * truth.back());
    HONE_TRY(race.add(seconds));
  }
  return {};
}

const std::vector<std::string> kNames{"d", "c", "b", "a"};

// 0.05 in five looks and three tests: 1/300, which nine rounds can give (1/512) and eight not.
TEST(Race, LooksFirstWhenSomebodyCanBeLeftOut) {
  EXPECT_EQ(Race(4).fewest_rounds(), 9u);
  EXPECT_EQ(Race(10).fewest_rounds(), 10u);  // 1/900; 1/1024
  EXPECT_EQ(Race(2).fewest_rounds(), 8u);    // 1/100; 1/128 takes seven
  EXPECT_EQ(Race(1).fewest_rounds(), 8u);
  EXPECT_EQ(fewest_rounds_to_tell(4, 0.01), 9u);
}

TEST(Race, DropsWhoIsSlowerAndGoesOnWithTheOthers) {
  Race race(4);
  ASSERT_TRUE(run(race, {1.0, 1.09, 1.002, 1.2, 2}, 8));
  EXPECT_THAT(race.running(), ElementsAre(0, 1, 2, 3));
  ASSERT_TRUE(run(race, {1.0, 1.09, 1.002, 1.2, 2}, 1));
  EXPECT_THAT(race.running(), ElementsAre(0, 2));
  EXPECT_THAT(race.tied(), ElementsAre(0, 2));
  EXPECT_EQ(race.times(1).size(), 9u);
  // 0.2 % apart, which is known: a tie, and the first by name ("b") wins.
  EXPECT_TRUE(race.is_over());
  EXPECT_EQ(race.winner(kNames)->candidate, 2u);
  EXPECT_EQ(race.winner(kNames)->won, Won::kByName);
}

TEST(Race, TheNameDecidesOnlyInASettledTie) {
  // Two that take turns at being 4 % faster, the first by a little more: nobody is out, and nothing
  // is settled when the time is over.
  Race race(2);
  for (int r = 0; r < 9; ++r)
    ASSERT_TRUE(race.add({r % 2 == 0 ? 1.0 : 1.04, r % 2 == 0 ? 1.05 : 1.0, 2.0}));
  EXPECT_FALSE(race.is_over());
  ASSERT_TRUE(race.end());
  EXPECT_THAT(race.tied(), ElementsAre(0, 1));
  const auto winner = race.winner(std::vector<std::string>{"z", "a"});
  EXPECT_EQ(winner->candidate, 0u);
  EXPECT_EQ(winner->won, Won::kByEstimate);
}

TEST(Race, TheOneThatIsLeftIsSeparated) {
  Race race(4);
  ASSERT_TRUE(run(race, {1.03, 1.0, 1.04, 1.05, 1.5}, 100));
  EXPECT_TRUE(race.is_over());
  EXPECT_EQ(race.rounds(), 9u);
  EXPECT_EQ(race.winner(kNames)->candidate, 1u);
  EXPECT_EQ(race.winner(kNames)->won, Won::kSeparated);
}

TEST(Race, NarrowedToTheFastestStillSaysWhoMayBeFaster) {
  Race race(4);
  ASSERT_TRUE(run(race, {1.3, 1.0, 1.2, 1.1, 1.5}, 3));
  ASSERT_TRUE(race.narrow());
  EXPECT_THAT(race.running(), ElementsAre(1));
  ASSERT_TRUE(run(race, {1.3, 1.0, 1.2, 1.1, 1.5}, 6));
  EXPECT_THAT(race.tied(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(race.winner(kNames)->candidate, 1u);
  EXPECT_EQ(race.winner(kNames)->won, Won::kByEstimate);
  EXPECT_EQ(race.default_times(0).size(), 3u);
  EXPECT_EQ(race.default_times(1).size(), 9u);
}

TEST(Race, WithoutDroppingAllRunToTheEnd) {
  Race race(2, {.drops = false});
  ASSERT_TRUE(run(race, {1.0, 1.5, 2}, 20));
  EXPECT_TRUE(race.is_over());
  EXPECT_THAT(race.running(), ElementsAre(0, 1));
  EXPECT_THAT(race.tied(), ElementsAre(0));
  EXPECT_EQ(race.times(1).size(), race.rounds());
}

TEST(Race, RefusesOtherNumbersOfTimes) {
  Race race(2);
  EXPECT_FALSE(race.add({1.0, 1.0}));
  EXPECT_FALSE(race.add({1.0, -1.0, 1.0}));
  EXPECT_FALSE(race.winner(kNames));
}

}  // namespace
}  // namespace hone::measure
