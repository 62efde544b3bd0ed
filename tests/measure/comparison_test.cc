#include "measure/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/measure/special_values.h"

namespace hone::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Hollander, Wolfe and Chicken, table 3.1: a depression score of nine patients, after - before a
// first visit. The book gives T+ = 5, P = 0.0195, the estimate -0.46 and the 96.1 % interval
// (-0.786, -0.010).
const std::vector<double> kBefore{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
const std::vector<double> kAfter{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};

TEST(SignedRank, GivesTheTextbooksNumbers) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < kBefore.size(); ++i) differences.push_back(kAfter[i] - kBefore[i]);
  const SignedRank test = signed_rank(differences, 0.05);
  EXPECT_NEAR(test.estimate, -0.46, 0.0005);
  EXPECT_NEAR(test.interval.low, -0.786, 0.0005);
  EXPECT_NEAR(test.interval.high, -0.010, 0.0005);
  EXPECT_DOUBLE_EQ(test.p_value, 2 * 10 / 512.0);
  EXPECT_DOUBLE_EQ(test.p_positive, 1 - 7 / 512.0);  // P(T >= 5) = 1 - P(T <= 4)
  EXPECT_FALSE(test.too_few);
}

TEST(SignedRank, TakesSixForFivePercent) {
  const std::vector<double> five{1, 2, 3, 4, 5}, six{1, 2, 3, 4, 5, 6};
  EXPECT_TRUE(signed_rank(five, 0.05).too_few);
  EXPECT_EQ(signed_rank(five, 0.05).interval, (Interval{-kInfinity, kInfinity}));
  EXPECT_FALSE(signed_rank(six, 0.05).too_few);
  EXPECT_EQ(signed_rank(six, 0.05).interval, (Interval{1, 6}));
  EXPECT_EQ(fewest_rounds(0.05), 6u);
  EXPECT_EQ(fewest_rounds(0.01), 8u);
}

TEST(SignedRank, CountsWithoutAveragesAlike) {
  std::vector<double> values;
  for (int i = 0; i < 70; ++i) {
    values.push_back(((i * 37) % 41 - 15) * 0.25);  // zeros and ties among them
    EXPECT_EQ(p_positive(values), signed_rank(values, 0.05).p_positive) << values.size();
  }
  EXPECT_EQ(p_positive({}), 1);
}

TEST(SignedRank, NormalApproximationContinuesTheExactDistribution) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(i - 24.5);
  const double exact = signed_rank(values, 0.05).p_value;
  values.push_back(0.25);
  EXPECT_NEAR(signed_rank(values, 0.05).p_value, exact, 0.1 * exact);
}

TEST(SignedRank, DifferencesOfZeroProveNothing) {
  const std::vector<double> zeros(20, 0.0);
  const SignedRank test = signed_rank(zeros, 0.05);
  EXPECT_EQ(test.p_value, 1);
  EXPECT_EQ(test.interval, (Interval{0, 0}));
}

TEST(BlockMedians, RemainderJoinsTheLastBlock) {
  const std::vector<double> values{1, 3, 5, 7, 9, 20, 30};
  EXPECT_THAT(block_medians(values, 1), ElementsAre(1, 3, 5, 7, 9, 20, 30));
  EXPECT_THAT(block_medians(values, 2), ElementsAre(2, 6, 20));
  EXPECT_THAT(block_medians(values, 10), ElementsAre(7));
}

TEST(ChooseBlock, JoinsRoundsThatFollowEachOther) {
  std::vector<double> independent, slow;
  for (int i = 0; i < 64; ++i) {
    independent.push_back(i % 2 == 0 ? 1 : -1);
    slow.push_back((i / 16) % 2 == 0 ? 1 : -1);  // stays for sixteen rounds
  }
  EXPECT_EQ(choose_block(independent), 1u);
  EXPECT_EQ(choose_block(slow), 8u);
  // At least eight blocks remain.
  EXPECT_EQ(choose_block(std::span(slow).first(15)), 1u);
}

std::vector<double> times(double factor) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(factor * (1 + 0.001 * (i * 7 % 5)));
  return values;
}

TEST(ComparePaired, ARoundsSlownessCancels) {
  std::vector<double> a = times(1e-3), b = times(1.1e-3);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double slowness = i < 10 ? 1 : 2;  // the machine halves its speed in the middle
    a[i] *= slowness;
    b[i] *= slowness;
  }
  const auto result = compare_paired(a, b);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, Verdict::kSlower);
  EXPECT_NEAR(result->ratio, 1.1, 1e-12);
  EXPECT_NEAR(result->interval.low, 1.1, 1e-12);
  EXPECT_EQ(result->rounds, 20u);
  EXPECT_EQ(compare_paired(b, a)->verdict, Verdict::kFaster);
  EXPECT_NEAR(compare_paired(b, a)->ratio, 1 / 1.1, 1e-12);
}

TEST(ComparePaired, EqualIsNoDifferent) {
  const auto result = compare_paired(times(1), times(1));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, Verdict::kNoDifferent);
  EXPECT_EQ(result->ratio, 1);
  EXPECT_EQ(result->p_value, 1);
}

TEST(ComparePaired, ADifferenceBelowTheThresholdIsNone) {
  const std::vector<double> a = times(1), b = times(1.003);
  EXPECT_EQ(compare_paired(a, b)->verdict, Verdict::kNoDifferent);
  EXPECT_EQ(compare_paired(a, b, {.threshold = 0})->verdict, Verdict::kSlower);
}

TEST(ComparePaired, FiveRoundsGiveNoVerdict) {
  const std::vector<double> a(5, 1.0), b(5, 3.0);
  const auto result = compare_paired(a, b);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->too_few);
  EXPECT_EQ(result->verdict, Verdict::kNoDifferent);
  EXPECT_EQ(result->interval, (Interval{0, kInfinity}));
  EXPECT_DOUBLE_EQ(result->ratio, 3);
}

TEST(ComparePaired, RefusesWhatIsNoPairOfTimes) {
  const std::vector<double> three(3, 1.0), two(2, 1.0), zero{1, 0, 1};
  EXPECT_THAT(compare_paired(three, two).error().message, HasSubstr("3 and 2"));
  EXPECT_THAT(compare_paired(three, zero).error().message, HasSubstr("round 1"));
  EXPECT_THAT(compare_paired(three, three, {.alpha = 1}).error().message, HasSubstr("alpha"));
}

TEST(SmallestDifference, ClearsTheThresholdInNinetyFiveOfAHundred) {
  // A half-width of 1.96 standard errors of 0.5 %: 0.5 % + 1.96 x 0.5 % + 1.645 x 0.5 %.
  EXPECT_NEAR(smallest_difference(0.0098), 0.005 + 0.0098 + 0.008225, 1e-9);
  EXPECT_EQ(smallest_difference(0, {.threshold = 0.02}), 0.02);
}

TEST(SmallestDifference, HalfWidthIsOnTheScaleOfLogarithms) {
  PairedComparison comparison;
  EXPECT_EQ(half_width(comparison), kInfinity);  // too few rounds
  comparison.too_few = false;
  comparison.interval = {0.98, 1.0204081632653061};  // 0.98 and 1 / 0.98
  EXPECT_NEAR(half_width(comparison), -std::log(0.98), 1e-12);
}

TEST(NeedsMoreRounds, UntilTheWantedDifferenceWouldBeFound) {
  PairedComparison comparison;
  EXPECT_TRUE(needs_more_rounds(comparison, 0.02));  // no interval yet
  comparison.too_few = false;
  // Half-width 1 %: 0.5 % + 1.84 x 1 % = 2.34 % would be found.
  comparison.interval = {std::exp(-0.01), std::exp(0.01)};
  EXPECT_TRUE(needs_more_rounds(comparison, 0.02));
  EXPECT_FALSE(needs_more_rounds(comparison, 0.03));
}

TEST(NeedsMoreRounds, NotWhereTheDifferenceIsCertain) {
  PairedComparison comparison;
  comparison.too_few = false;
  comparison.ratio = std::exp(0.036);  // beyond 0.5 % + 3 x 1 %
  comparison.interval = {std::exp(0.026), std::exp(0.046)};
  EXPECT_FALSE(needs_more_rounds(comparison, 0.02));
  comparison.ratio = std::exp(0.034);
  EXPECT_TRUE(needs_more_rounds(comparison, 0.02));
}

TEST(ComparePaired, VerdictsHaveNames) {
  EXPECT_EQ(name_of(Verdict::kFaster), "faster");
  EXPECT_EQ(name_of(Verdict::kSlower), "slower");
  EXPECT_EQ(name_of(Verdict::kNoDifferent), "no different");
}

}  // namespace
}  // namespace hone::measure
