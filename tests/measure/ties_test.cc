#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/race.h"
#include "tests/measure/noise.h"

namespace hone::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Ties, OfOneCandidateIsItself) {
  const std::vector<std::vector<double>> rounds{{1.0}};
  const auto ties = find_ties(rounds);
  ASSERT_TRUE(ties);
  EXPECT_THAT(ties->members(), ElementsAre(0));
  EXPECT_TRUE(ties->separated());
  EXPECT_TRUE(ties->settled());
}

TEST(Ties, TheFastestOfThreeIsSeparatedAfterSevenRounds) {
  // Two tests at 2.5 % each, one-sided: six rounds give 1/64 = 1.6 %.
  std::vector<std::vector<double>> rounds;
  for (int r = 0; r < 5; ++r) rounds.push_back({1.2 + 0.01 * r, 1.0 + 0.01 * r, 1.1 + 0.01 * r});
  EXPECT_THAT(find_ties(rounds)->members(), ElementsAre(0, 1, 2));
  EXPECT_FALSE(find_ties(rounds)->settled());
  rounds.push_back({1.25, 1.05, 1.15});
  const auto ties = find_ties(rounds);
  ASSERT_TRUE(ties);
  EXPECT_THAT(ties->members(), ElementsAre(1));
  EXPECT_EQ(ties->best(), 1u);
  EXPECT_TRUE(ties->separated());
  EXPECT_NEAR(ties->ratios()[0], 1.2, 0.01);
  EXPECT_EQ(ties->ratios()[1], 1);
}

TEST(Ties, AreSettledWhenAllLieWithinTheBand) {
  // Two take turns at being 0.2 % faster; a third is 10 % slower.
  std::vector<std::vector<double>> rounds;
  for (int r = 0; r < 20; ++r)
    rounds.push_back({1.0 + 0.002 * (r % 2), 1.0 + 0.002 * ((r + 1) % 2), 1.1});
  const auto ties = find_ties(rounds);
  ASSERT_TRUE(ties);
  EXPECT_THAT(ties->members(), ElementsAre(0, 1));
  EXPECT_FALSE(ties->separated());
  EXPECT_TRUE(ties->settled());
  EXPECT_FALSE(find_ties(rounds, {.band = 0.001})->settled());
}

TEST(Ties, TakeInWhatIsCertainlySlowerByLessThanTheThreshold) {
  std::vector<std::vector<double>> rounds;
  for (int r = 0; r < 20; ++r) {
    const double machine = 1 + 0.01 * (r % 3);
    rounds.push_back({machine, machine * 1.004, machine * 1.006});
  }
  EXPECT_THAT(find_ties(rounds)->members(), ElementsAre(0, 1));
  EXPECT_THAT(find_ties(rounds, {.threshold = 0})->members(), ElementsAre(0));
}

TEST(Ties, RefuseRaggedRounds) {
  const std::vector<std::vector<double>> ragged{{1.0, 2.0}, {1.0}};
  EXPECT_THAT(find_ties(ragged).error().message, HasSubstr("round 1 has 1"));
  EXPECT_FALSE(find_ties({}));
  const std::vector<std::vector<double>> negative{{1.0, -2.0}};
  EXPECT_THAT(find_ties(negative).error().message, HasSubstr("candidate 1"));
}

TEST(TiesSimulation, TheFastestStaysAndTheSlowGo) {
  // Ten finalists: three within 0.2 %, seven at least 2 % slower; 1 % noise, drift, spikes.
  const std::vector<double> truth{1.02, 1.0, 1.03, 1.002, 1.05, 1.001, 1.04, 1.03, 1.1, 1.02};
  int kept = 0, sizes = 0, slow_kept = 0;
  constexpr int kRepetitions = 200;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    NoisyMachine machine(static_cast<std::uint64_t>(repetition), {});
    const auto ties = find_ties(machine.rounds(truth, 40));
    ASSERT_TRUE(ties);
    kept += ties->contains(1) ? 1 : 0;
    sizes += static_cast<int>(ties->members().size());
    for (const std::size_t slow : {0u, 2u, 4u, 6u, 7u, 8u, 9u})
      slow_kept += ties->contains(slow) ? 1 : 0;
  }
  std::printf("fastest kept in %d of %d, tie set of %.2f on average, slow ones kept %d\n", kept,
              kRepetitions, static_cast<double>(sizes) / kRepetitions, slow_kept);
  EXPECT_GE(kept, kRepetitions * 95 / 100);
  EXPECT_LE(slow_kept, kRepetitions * 7 * 2 / 100);
}

TEST(TiesSimulation, EqualCandidatesStayTogether) {
  const std::vector<double> truth(8, 1.0);
  int complete = 0;
  for (int repetition = 0; repetition < 200; ++repetition) {
    NoisyMachine machine(static_cast<std::uint64_t>(repetition), {.correlation = 0.5});
    const auto ties = find_ties(machine.rounds(truth, 30));
    ASSERT_TRUE(ties);
    complete += ties->contains(0) ? 1 : 0;  // any one of them, for it is as fast as the best
  }
  EXPECT_GE(complete, 190);
}

}  // namespace
}  // namespace hone::measure
