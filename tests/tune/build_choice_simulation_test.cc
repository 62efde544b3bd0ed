// How often a way to build the program is recommended that is no faster, and how often one that is
// 5 % faster, on simulated machines with fixed seeds: 12 rounds choose, 20 others say what is so.
#include <gtest/gtest.h>

#include "plan/policy.h"
#include "tests/measure/noise.h"
#include "tune/program/build.h"

namespace hone::tune {
namespace {

constexpr std::size_t kChoosing = 12, kProving = 20;
constexpr int kRuns = 1000;

std::vector<double> column(const std::vector<std::vector<double>>& rounds, std::size_t variant) {
  std::vector<double> times;
  for (const std::vector<double>& round : rounds) times.push_back(round[variant]);
  return times;
}

struct Simulation {
  Recommended recommended = Recommended::kDefault;
  std::size_t chosen = 0;
};

// truth[v]: the time of a build, the default first; `flags`: the build that each one's flags
// alone are, 0 for one without a spec or without flags.
Simulation simulate(measure::NoisyMachine& machine, const std::vector<double>& truth,
                    const std::vector<std::size_t>& flags) {
  const auto choosing = machine.rounds(truth, kChoosing);
  std::vector<VerifiedBuild> builds;
  for (std::size_t v = 0; v < truth.size(); ++v) {
    builds.push_back({{{.label = std::to_string(v), .flags = {std::to_string(v)}}}});
    builds.back().seconds = column(choosing, v);
  }
  const auto promising = most_promising({builds});
  EXPECT_TRUE(promising && *promising);
  const auto chosen = static_cast<std::size_t>(std::stoi((*promising)->label));
  if (chosen == 0) return {};
  const auto fresh = machine.rounds({truth[0], truth[chosen], truth[flags[chosen]]}, kProving);
  const auto verdict = verdict_of(std::vector<ProvingRounds>{
      {column(fresh, 0), flags[chosen] == 0 ? std::vector<double>() : column(fresh, 2),
       column(fresh, 1)}});
  EXPECT_TRUE(verdict);
  return {verdict->recommended, chosen};
}

class Simulated : public testing::TestWithParam<double> {
 protected:
  // The share of runs of which `is` holds.
  template <class Is>
  double share(const std::vector<double>& truth, const std::vector<std::size_t>& flags,
               const Is& is) const {
    int count = 0;
    for (int repetition = 0; repetition < kRuns; ++repetition) {
      measure::NoisyMachine machine(static_cast<std::uint64_t>(9000 + repetition),
                                    {.lognormal = GetParam()});
      count += is(simulate(machine, truth, flags)) ? 1 : 0;
    }
    return static_cast<double>(count) / kRuns;
  }
};

// Default, three flag sets, the spec, the spec with each flag set, and one that lacks an entry.
const std::vector<std::size_t> kFlags{0, 0, 0, 0, 0, 1, 2, 3, 0};

TEST_P(Simulated, NineIdenticalVariantsAreLeftAtTheDefault) {
  const double wrong = share(std::vector<double>(9, 1e-3), kFlags, [](const Simulation& each) {
    return each.recommended != Recommended::kDefault;
  });
  std::printf("noise %.0f %%: nine identical variants, another than the default %.1f %%\n",
              100 * GetParam(), 100 * wrong);
  EXPECT_LE(wrong, plan::kRecommendedInError);
}

// Flags that make the program 20 % faster, and specs that do nothing.
TEST_P(Simulated, ASpecThatDoesNothingIsNotRecommendedBesideAFlagThatHelps) {
  const std::vector<double> truth{1e-3, 0.8e-3, 1e-3, 1e-3, 1e-3, 0.8e-3, 1e-3, 1e-3, 1e-3};
  const double wrong = share(truth, kFlags, [](const Simulation& each) {
    return each.recommended == Recommended::kChosen && each.chosen == 5;
  });
  std::printf("noise %.0f %%: a spec without effect, beside a flag with one %.1f %%\n",
              100 * GetParam(), 100 * wrong);
  EXPECT_LE(wrong, plan::kRecommendedInError);
}

TEST_P(Simulated, AGainOfFivePercentIsFound) {
  std::vector<double> truth(9, 1e-3);
  truth[4] = 1e-3 / 1.05;
  const double found = share(truth, kFlags, [](const Simulation& each) {
    return each.recommended == Recommended::kChosen && each.chosen == 4;
  });
  std::printf("noise %.0f %%: a spec 5 %% faster is recommended %.1f %%\n", 100 * GetParam(),
              100 * found);
  if (GetParam() <= 0.03) {
    EXPECT_GE(found, GetParam() <= 0.01 ? 0.95 : 0.7);
  }
}

INSTANTIATE_TEST_SUITE_P(Noise, Simulated, testing::Values(0.01, 0.03, 0.06));

}  // namespace
}  // namespace hone::tune
