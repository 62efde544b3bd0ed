#include "measure/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone::measure {
namespace {

// Up to here the null distribution is computed, beyond it is normal to three digits.
constexpr std::size_t kExactLimit = 60;
// Walsh averages are n (n + 1) / 2: more rounds than this are joined into blocks first.
constexpr std::size_t kMostBlocks = 1000;
constexpr std::size_t kFewestBlocks = 8;

// P(T <= t) for t = 0, 1, ... of the signed-rank statistic T of n differences: T is a sum of the
// ranks 1..n, each taken with probability 1/2.
std::vector<double> null_distribution(std::size_t n) {
  std::vector<double> probability(n * (n + 1) / 2 + 1, 0);
  probability[0] = 1;
  for (std::size_t rank = 1, sum = 1; rank <= n; ++rank, sum += rank)
    for (std::size_t t = sum + 1; t-- > 0;)
      probability[t] = (probability[t] + (t >= rank ? probability[t - rank] : 0)) / 2;
  for (std::size_t t = 1; t < probability.size(); ++t) probability[t] += probability[t - 1];
  return probability;
}

class NullDistribution {
 public:
  explicit NullDistribution(std::size_t n) : n_(static_cast<double>(n)) {
    if (n <= kExactLimit) exact_ = null_distribution(n);
  }

  double at_most(std::size_t t) const {
    if (!exact_.empty()) return std::min(1.0, exact_[std::min(t, exact_.size() - 1)]);
    const double mean = n_ * (n_ + 1) / 4, variance = n_ * (n_ + 1) * (2 * n_ + 1) / 24;
    const double z = (static_cast<double>(t) + 0.5 - mean) / std::sqrt(variance);
    return std::erfc(-z / std::sqrt(2.0)) / 2;
  }

 private:
  double n_;
  std::vector<double> exact_;
};

std::vector<double> sorted_walsh_averages(std::span<const double> differences) {
  std::vector<double> averages;
  averages.reserve(differences.size() * (differences.size() + 1) / 2);
  for (std::size_t i = 0; i < differences.size(); ++i)
    for (std::size_t j = i; j < differences.size(); ++j)
      averages.push_back((differences[i] + differences[j]) / 2);
  std::ranges::sort(averages);
  return averages;
}

bool is_time(double seconds) {
  return std::isfinite(seconds) && seconds > 0;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kNoDifferent:
      break;
  }
  return "no different";
}

SignedRank signed_rank(std::span<const double> differences, double alpha) {
  SignedRank result;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  result.interval = {-kInfinity, kInfinity};
  if (differences.empty()) return result;
  const std::vector<double> averages = sorted_walsh_averages(differences);
  const NullDistribution null(differences.size());
  result.estimate = quantile(averages, 0.5);

  // Averages of exactly zero (clocks with coarse ticks) count against either direction: safe.
  const auto first_not_negative = std::ranges::lower_bound(averages, 0.0);
  const auto first_positive = std::ranges::upper_bound(averages, 0.0);
  const auto not_positive = static_cast<std::size_t>(first_positive - averages.begin());
  const auto not_negative = static_cast<std::size_t>(averages.end() - first_not_negative);
  result.p_positive = null.at_most(not_positive);
  result.p_value = std::min(1.0, 2 * std::min(result.p_positive, null.at_most(not_negative)));

  // `cut` averages may lie on the far side of the interval's end with probability alpha / 2.
  std::size_t cut = 0;
  while (cut < averages.size() / 2 && null.at_most(cut) <= alpha / 2) ++cut;
  if (cut == 0) return result;
  result.too_few = false;
  result.interval = {averages[cut - 1], averages[averages.size() - cut]};
  return result;
}

double p_positive(std::span<const double> differences) {
  if (differences.empty()) return 1;
  std::vector<double> sorted(differences.begin(), differences.end());
  std::ranges::sort(sorted);
  // Walsh averages that are not positive. For each difference these are its averages with the
  // differences from it upwards, in order.
  std::size_t not_positive = 0, end = sorted.size();
  for (std::size_t i = 0; i < end; ++i) {
    while (end > i && (sorted[i] + sorted[end - 1]) / 2 > 0) --end;
    not_positive += end - i;
  }
  return NullDistribution(sorted.size()).at_most(not_positive);
}

std::vector<double> block_medians(std::span<const double> values, std::size_t block) {
  std::vector<double> medians;
  const std::size_t blocks = std::max<std::size_t>(1, values.size() / block);
  for (std::size_t b = 0; b < blocks && !values.empty(); ++b) {
    const std::size_t begin = b * block;
    const std::size_t count = b + 1 == blocks ? values.size() - begin : block;
    medians.push_back(median(values.subspan(begin, count)));
  }
  return medians;
}

std::size_t choose_block(std::span<const double> values) {
  std::size_t block = 1;
  while (values.size() / block > kMostBlocks) block *= 2;
  while (values.size() / (2 * block) >= kFewestBlocks) {
    const std::vector<double> medians = block_medians(values, block);
    // 1.645 / sqrt(n) is the 5 % point of the estimate when there is no correlation (Bartlett).
    if (lag_one_autocorrelation(medians) <= 1.645 / std::sqrt(static_cast<double>(medians.size())))
      break;
    block *= 2;
  }
  return block;
}

std::size_t fewest_rounds(double alpha) {
  std::size_t rounds = 1;
  for (double p = 1; p > alpha; p /= 2) ++rounds;  // two-sided: 2 x 2^-n
  return rounds;
}

Result<PairedComparison> compare_paired(std::span<const double> a, std::span<const double> b,
                                        const ComparisonOptions& options) {
  if (a.size() != b.size())
    return input_error("a paired comparison needs as many samples of A as of B, got {} and {}",
                       a.size(), b.size());
  if (!(options.alpha > 0 && options.alpha < 1))
    return input_error("the error rate alpha must lie between 0 and 1, got {}", options.alpha);
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_time(a[i]) || !is_time(b[i]))
      return input_error("round {} has no valid pair of times: A {} s, B {} s", i, a[i], b[i]);
    logarithms.push_back(std::log(b[i] / a[i]));
  }

  PairedComparison result;
  result.rounds = a.size();
  result.block = options.block > 0 ? options.block : choose_block(logarithms);
  const SignedRank test = signed_rank(block_medians(logarithms, result.block), options.alpha);
  result.ratio = std::exp(test.estimate);
  result.interval = {std::exp(test.interval.low), std::exp(test.interval.high)};
  result.ratio_of_medians = a.empty() ? 1 : median(b) / median(a);
  result.p_value = test.p_value;
  result.too_few = test.too_few;
  if (result.interval.low > 1 + options.threshold) result.verdict = Verdict::kSlower;
  if (result.interval.high < 1 - options.threshold) result.verdict = Verdict::kFaster;
  return result;
}

double smallest_difference(double half_width, const ComparisonOptions& options) {
  constexpr double kTwoSided = 1.960, kOneSided = 1.645;  // 97.5 % and 95 % points of the normal
  return options.threshold + half_width * (1 + kOneSided / kTwoSided);
}

bool needs_more_rounds(const PairedComparison& comparison, double wanted,
                       const ComparisonOptions& options) {
  constexpr double kCertain = 3;
  const double half = half_width(comparison);
  if (smallest_difference(half, options) <= wanted) return false;
  return !(std::abs(std::log(comparison.ratio)) > options.threshold + kCertain * half);
}

double half_width(const PairedComparison& comparison) {
  if (comparison.too_few) return std::numeric_limits<double>::infinity();
  return (std::log(comparison.interval.high) - std::log(comparison.interval.low)) / 2;
}

}  // namespace hone::measure
