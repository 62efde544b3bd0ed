// How often the verdicts are wrong, on simulated machines with fixed seeds.
#include <gtest/gtest.h>

#include "measure/comparison.h"
#include "tests/measure/noise.h"

namespace hone::measure {
namespace {

using MachineNoise = NoisyMachine::Noise;

struct Counts {
  int faster = 0, slower = 0, none = 0;
  double different_share() const {
    return static_cast<double>(faster + slower) / (faster + slower + none);
  }
};

Counts compare_often(int repetitions, double true_ratio, const MachineNoise& noise,
                     const ComparisonOptions& options = {}, std::size_t rounds = kDefaultRounds) {
  Counts counts;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    NoisyMachine machine(static_cast<std::uint64_t>(1000 + repetition), noise);
    std::vector<double> a, b;
    for (std::size_t r = 0; r < rounds; ++r) {
      const std::vector<double> times = machine.round({1e-3, 1e-3 * true_ratio});
      a.push_back(times[0]);
      b.push_back(times[1]);
    }
    const auto result = compare_paired(a, b, options);
    if (!result) continue;
    if (result->verdict == Verdict::kFaster) ++counts.faster;
    if (result->verdict == Verdict::kSlower) ++counts.slower;
    if (result->verdict == Verdict::kNoDifferent) ++counts.none;
  }
  return counts;
}

void report(const char* what, const Counts& counts) {
  std::printf("%-60s faster %4d, slower %4d, no different %4d\n", what, counts.faster,
              counts.slower, counts.none);
}

TEST(ErrorRate, OfAProgramWithItselfIsBelowAlpha) {
  const std::pair<const char*, MachineNoise> machines[] = {
      {"A/A, 1 % noise, drift, spikes", {}},
      {"A/A, 3 % noise, large drift", {.lognormal = 0.03, .drift = 0.1}},
      {"A/A, many spikes of up to 300 %", {.spikes = 0.2, .spike_size = 3}},
      {"A/A, strongly autocorrelated", {.lognormal = 0.02, .correlation = 0.8}},
  };
  for (const auto& [name, noise] : machines) {
    const Counts counts = compare_often(2000, 1, noise);
    report(name, counts);
    EXPECT_LE(counts.different_share(), 0.05) << name;
    // Without the threshold the rate is alpha's own: 0.05 within three standard deviations.
    const Counts every = compare_often(2000, 1, noise, {.threshold = 0, .block = 1});
    report("  threshold 0, block 1", every);
    EXPECT_LE(every.different_share(), 0.05 + 3 * 0.0049) << name;
    EXPECT_GE(every.different_share(), 0.025) << name << ": the test wastes its rounds";
  }
}

TEST(ErrorRate, BlocksHelpWhereTheOrderIsFixed) {
  const MachineNoise noise{.lognormal = 0.01, .correlation = 0.95, .random_order = false};
  const Counts blocks = compare_often(500, 1, noise, {.threshold = 0}, 60);
  report("A/A, fixed order, autocorrelated, blocks chosen", blocks);
  EXPECT_LE(blocks.different_share(), 0.075);
}

// The stages of hone compare: 30 rounds at a time, at most 120.
Counts compare_in_stages(int repetitions, double true_ratio, const MachineNoise& noise,
                         const ComparisonOptions& options, std::size_t stage = kDefaultRounds) {
  Counts counts;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    NoisyMachine machine(static_cast<std::uint64_t>(5000 + repetition), noise);
    std::vector<double> a, b;
    PairedComparison result;
    do {
      for (std::size_t r = 0; r < stage; ++r) {
        const std::vector<double> times = machine.round({1e-3, 1e-3 * true_ratio});
        a.push_back(times[0]);
        b.push_back(times[1]);
      }
      result = compare_paired(a, b, options).value();
    } while (a.size() < 4 * kDefaultRounds && needs_more_rounds(result, 0.02, options));
    if (result.verdict == Verdict::kFaster) ++counts.faster;
    if (result.verdict == Verdict::kSlower) ++counts.slower;
    if (result.verdict == Verdict::kNoDifferent) ++counts.none;
  }
  return counts;
}

TEST(ErrorRate, InStagesIsBelowAlpha) {
  for (const double noise : {0.005, 0.015, 0.03}) {
    const Counts counts = compare_in_stages(2000, 1, {.lognormal = noise}, {});
    report("A/A in stages", counts);
    EXPECT_LE(counts.different_share(), 0.05) << noise;
    // Without the threshold, choosing blocks and stopping at a width cost about one in a hundred.
    const Counts every = compare_in_stages(2000, 1, {.lognormal = noise}, {.threshold = 0});
    report("  threshold 0", every);
    EXPECT_LE(every.different_share(), 0.05 + 3 * 0.0049) << noise;
  }
}

// The stages of hone recheck: six rounds at a time, the fewest that allow a verdict.
TEST(ErrorRate, InShortStagesIsBelowAlpha) {
  for (const double noise : {0.005, 0.015, 0.05}) {
    const Counts counts = compare_in_stages(500, 1, {.lognormal = noise}, {},
                                            fewest_rounds(ComparisonOptions().alpha));
    report("A/A in stages of six rounds", counts);
    EXPECT_LE(counts.different_share(), 0.05) << noise;
  }
}

TEST(Power, StagesFindThreePercentAtThreePercentNoise) {
  const Counts counts = compare_in_stages(1000, 1.03, {.lognormal = 0.03}, {.block = 1});
  report("3 % slower, 3 % noise, in stages", counts);
  EXPECT_GE(counts.slower, 950);
}

TEST(Power, ThreePercentSlowerIsFoundAtOnePercentNoise) {
  const Counts counts = compare_often(1000, 1.03, {});
  report("3 % slower, 1 % noise", counts);
  EXPECT_GE(counts.slower, 950);
  EXPECT_EQ(counts.faster, 0);
  const Counts spiky = compare_often(1000, 1.03, {.spikes = 0.1, .spike_size = 2});
  report("3 % slower, 1 % noise, every tenth run up to 200 % longer", spiky);
  EXPECT_GE(spiky.slower, 900);
}

TEST(Power, TheSmallestDifferenceStatedIsFound) {
  // What a comparison of a thing with itself says it would find is found.
  std::vector<double> stated;
  for (int repetition = 0; repetition < 200; ++repetition) {
    NoisyMachine machine(static_cast<std::uint64_t>(repetition), {.spikes = 0});
    std::vector<double> a, b;
    for (std::size_t r = 0; r < kDefaultRounds; ++r) {
      const std::vector<double> times = machine.round({1.0, 1.0});
      a.push_back(times[0]);
      b.push_back(times[1]);
    }
    const auto result = compare_paired(a, b, {.block = 1});
    ASSERT_TRUE(result);
    stated.push_back(smallest_difference(half_width(*result)));
  }
  const double smallest = median(stated);
  // Noise of 1 % in each run: 1.41 % of a ratio, 0.258 % of the mean of 30, 0.5 % + 3.6 x 0.258 %.
  EXPECT_NEAR(smallest, 0.0143, 0.0012);
  const Counts counts = compare_often(1000, 1 + smallest, {.spikes = 0}, {.block = 1});
  report("slower by the smallest difference stated", counts);
  EXPECT_GE(counts.slower, 930);
}

TEST(Power, IntervalsCoverTheTrueRatio) {
  int covered = 0;
  for (int repetition = 0; repetition < 1000; ++repetition) {
    NoisyMachine machine(static_cast<std::uint64_t>(repetition), {});
    std::vector<double> a, b;
    for (std::size_t r = 0; r < 30; ++r) {
      const std::vector<double> times = machine.round({1.0, 0.8});
      a.push_back(times[0]);
      b.push_back(times[1]);
    }
    const auto result = compare_paired(a, b);
    if (result && result->interval.low <= 0.8 && 0.8 <= result->interval.high) ++covered;
  }
  EXPECT_GE(covered, 935);
}

}  // namespace
}  // namespace hone::measure
