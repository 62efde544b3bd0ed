// Is B faster than A? Paired comparison of two kernels measured in rounds.
//
// In every round both run once, next to each other, in an order drawn at random. What the machine
// does to a whole round (drift, clocks, load) cancels in the ratio b/a of that round.
//
// Method: Wilcoxon's signed-rank test on the logarithms of these ratios, its confidence interval
// (Walsh averages) and the Hodges-Lehmann estimate (Hollander, Wolfe and Chicken, Nonparametric
// Statistical Methods, 3rd ed., 3.1-3.3).
// Why this and not a bootstrap: when A and B are the same program, a coin decides which of the two
// times of a round is a's, so each logarithm is as likely to be positive as negative. The test's
// error rate then is exact for every number of rounds and whatever the noise, spikes and
// autocorrelation of the machine included (a randomisation test). Bootstrap intervals, BCa too,
// are too short for 10 to 20 samples (Efron and Tibshirani, An Introduction to the Bootstrap,
// 14.3). It costs 5 % of the t-test's power on normal noise and is far stronger with spikes.
//
// The coin is the condition. Where the order in a round is fixed, or a state outlives rounds
// (memory placement), neighbouring ratios correlate; rounds are then joined into blocks until they
// do not (batch means: Law, Simulation Modeling and Analysis, 5th ed., 9.5.3).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/statistics.h"

namespace hone::measure {

enum class Verdict { kFaster, kSlower, kNoDifferent };
std::string_view name_of(Verdict verdict);  // "faster", "slower", "no different"

// Rounds of a comparison, unless told otherwise: enough to call 3 % slower at 1 % noise in more
// than 95 of 100 comparisons (tests/measure/comparison_simulation_test.cc).
inline constexpr std::size_t kDefaultRounds = 30;

struct ComparisonOptions {
  // At most this share of comparisons of a program with itself is called different.
  double alpha = 0.05;
  // Differences up to this share are called "no different" even when they are certain: the interval
  // must lie beyond 1 +- threshold. The same code differs by this much between two loads, through
  // the placement of its buffers and instructions. 0 reports every significant difference.
  double threshold = 0.005;
  // Rounds per block; 0 chooses the smallest of 1, 2, 4, ... at which neighbouring blocks no longer
  // correlate, while at least eight blocks remain.
  std::size_t block = 0;
};

struct PairedComparison {
  Verdict verdict = Verdict::kNoDifferent;  // of B against A
  double ratio = 1;                         // time of B / time of A: Hodges-Lehmann estimate
  Interval interval{};                      // of the ratio, at confidence 1 - alpha
  double ratio_of_medians = 1;
  double p_value = 1;      // two-sided
  std::size_t rounds = 0;  // given
  std::size_t block = 1;   // rounds per block that was used
  // Too few rounds for any verdict at this alpha (5 % takes six): the interval is (0, inf).
  bool too_few = true;
};

// a[i] and b[i] are the times of round i. Input error when the lengths differ or a time is not
// positive and finite.
Result<PairedComparison> compare_paired(std::span<const double> a, std::span<const double> b,
                                        const ComparisonOptions& options = {});

// The fewest rounds at which this alpha allows a verdict: 6 for 0.05.
std::size_t fewest_rounds(double alpha);

// The smallest slowdown, as a share (0.01: 1 %), that a comparison calls one in 95 of 100 cases,
// from the relative half-width of its interval. The interval (half-width h = 1.96 standard errors)
// must clear the threshold even when the estimate falls 1.645 standard errors short:
// threshold + h (1 + 1.645 / 1.96). For other alphas than 5 % h holds more or fewer errors, and
// the result is a little too small or too large.
double smallest_difference(double half_width, const ComparisonOptions& options = {});

// Half the width of a ratio's interval on the scale of logarithms; infinite for too few rounds.
double half_width(const PairedComparison& comparison);

// Whether more rounds are worth their time: a slowdown of `wanted` would be missed in more than 5
// of 100 cases, and the result is not certain anyway. The decision looks at the interval's width,
// not at its position. A wide interval stops only if its ratio is three half-widths (six standard
// errors) beyond the threshold. Looking after each stage in this way costs about one error in a
// hundred if the threshold is 0, and none if it is 0.5 % (simulated: docs/measuring.md).
bool needs_more_rounds(const PairedComparison& comparison, double wanted,
                       const ComparisonOptions& options = {});

// The signed-rank interval for the centre of symmetric `differences`, and the estimate. For
// comparison.cc and race.cc; public because it is tested by hand.
struct SignedRank {
  double estimate = 0;    // Hodges-Lehmann: median of the Walsh averages
  Interval interval{};    // two-sided
  double p_value = 1;     // two-sided, for centre 0
  double p_positive = 1;  // one-sided: small when the centre is above 0
  bool too_few = true;    // no interval at this alpha
};
SignedRank signed_rank(std::span<const double> differences, double alpha);

// p_positive of signed_rank() alone, without its n^2 averages: rounds of ten finalists ask for it
// ninety times. 1 without differences.
double p_positive(std::span<const double> differences);

// Medians of runs of `block` neighbouring values; a remainder joins the last block.
std::vector<double> block_medians(std::span<const double> values, std::size_t block);

// The smallest power of two at which neighbouring block medians no longer correlate (one-sided
// 5 %), at least eight blocks remaining.
std::size_t choose_block(std::span<const double> values);

}  // namespace hone::measure
