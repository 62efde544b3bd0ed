// Judgements of calibrations written out by hand.
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "measure/calibration.h"

namespace hone::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// 60 rounds in which nothing ever differs.
Calibration quiet() {
  Calibration calibration;
  calibration.a_seconds.assign(60, 1e-4);
  calibration.b_seconds.assign(60, 1e-4);
  return calibration;
}

TEST(Noise, AQuietMachineTellsOnePercentApart) {
  const Noise noise = judge_noise(quiet());
  // Nothing differs, so the threshold of the comparison is all that limits it.
  EXPECT_DOUBLE_EQ(noise.smallest_difference, 0.005);
  EXPECT_FALSE(noise.too_noisy);
  EXPECT_THAT(noise.findings, IsEmpty());
  EXPECT_THAT(noise.advice, IsEmpty());
  EXPECT_EQ(warning(noise), "");
}

TEST(Noise, TheSmallestDifferenceIsThatOfTheComparisonsToCome) {
  Calibration calibration;
  for (int i = 0; i < 60; ++i) {
    calibration.a_seconds.push_back(1);
    calibration.b_seconds.push_back(std::exp(0.001 * (i - 29.5)));
  }
  ComparisonOptions options;
  options.block = 1;
  const auto itself = compare_paired(calibration.a_seconds, calibration.b_seconds, options);
  ASSERT_TRUE(itself);
  const double half = half_width(*itself);
  // Values spread evenly over 60 steps of 0.1 %: standard deviation 1.75 %, of the mean of 60 of
  // them 0.225 %; 1.96 times that is 0.44 %, and the signed ranks give nearly as much.
  EXPECT_NEAR(half, 0.0045, 0.0005);
  const double wanted = 0.005 + half * (1 + 1.645 / 1.960);
  EXPECT_NEAR(judge_noise(calibration, {.rounds = 60}).smallest_difference, wanted, 1e-12);
  // With a quarter of the rounds an interval is twice as wide.
  EXPECT_NEAR(judge_noise(calibration, {.rounds = 15}).smallest_difference, 2 * wanted - 0.005,
              1e-12);
  EXPECT_FALSE(judge_noise(calibration, {.wanted = 0.02, .rounds = 60}).too_noisy);
  EXPECT_TRUE(judge_noise(calibration, {.wanted = 0.01, .rounds = 60}).too_noisy);
}

TEST(Noise, NoiseWithoutACauseIsStillNoise) {
  Calibration calibration;
  for (int i = 0; i < 60; ++i) {
    calibration.a_seconds.push_back(1 + 0.1 * (i % 7));
    calibration.b_seconds.push_back(1 + 0.1 * (i % 5));
  }
  const Noise noise = judge_noise(calibration);
  EXPECT_TRUE(noise.too_noisy);
  EXPECT_THAT(noise.findings, IsEmpty());
  EXPECT_THAT(warning(noise), HasSubstr("noisy machine: differences below "));
  EXPECT_THAT(warning(noise), HasSubstr("no cause is visible"));
}

TEST(Noise, NamesTheProcessTheGovernorAndTheNeighbours) {
  Calibration calibration = quiet();
  calibration.after.background = 0.43;
  calibration.after.cores = {{.core = 0, .busy = 1, .stolen = 0.03, .governor = "powersave"},
                             {.core = 1, .busy = 1, .stolen = 0, .governor = "performance"}};
  calibration.after.processes = {{.pid = 4711, .name = "cc1plus", .share = 0.86, .core = 1}};
  const Noise noise = judge_noise(calibration);
  EXPECT_TRUE(noise.too_noisy);  // the samples are quiet, but 43 % of the cores are not hone's
  EXPECT_THAT(noise.findings,
              ElementsAre("core 0: governor 'powersave'",
                          "core 0: 3 % of its time went to other virtual machines",
                          "cc1plus (process 4711) takes 86 % of a core, last seen on core 1"));
  EXPECT_THAT(noise.advice, ElementsAre(HasSubstr("cpupower frequency-set -g performance"),
                                        HasSubstr("not shared"), HasSubstr("--cores")));
  EXPECT_THAT(warning(noise), HasSubstr("may change while hone measures"));
}

TEST(Noise, SmallLoadIsSaidButNoWarning) {
  Calibration calibration = quiet();
  calibration.after.background = 0.05;
  const Noise noise = judge_noise(calibration);
  EXPECT_THAT(noise.findings, ElementsAre("others take 5 % of the cores"));
  EXPECT_FALSE(noise.too_noisy);
}

TEST(Noise, ThrottlingCountsOnlyWhenItHappensNow) {
  Calibration calibration = quiet();
  calibration.before.cores = {{.core = 3, .throttles = 90, .governor = ""}};
  calibration.after.cores = {{.core = 3, .throttles = 90, .governor = ""}};
  EXPECT_THAT(judge_noise(calibration).findings, IsEmpty());
  calibration.after.cores[0].throttles = 92;
  EXPECT_THAT(judge_noise(calibration).findings,
              ElementsAre("core 3: throttled 2 times by its temperature just now"));
}

TEST(Noise, CountsDisturbedSamplesAndOutliers) {
  Calibration calibration = quiet();
  calibration.disturbed = 30;
  calibration.a_seconds[0] = 1;
  calibration.b_seconds[0] = 1;
  const Noise noise = judge_noise(calibration);
  EXPECT_DOUBLE_EQ(noise.disturbed, 30.0 / 150);  // 120 kept, 30 taken again
  EXPECT_DOUBLE_EQ(noise.outliers, 2.0 / 120);
}

TEST(Noise, NothingMeasuredIsNotQuiet) {
  const Noise noise = judge_noise({});
  EXPECT_TRUE(noise.too_noisy);
  EXPECT_TRUE(std::isinf(noise.smallest_difference));
  EXPECT_THAT(warning(noise), HasSubstr("could not be measured"));
  EXPECT_TRUE(nlohmann::json(noise).at("smallest_difference").is_null());
}

}  // namespace
}  // namespace hone::measure
