#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hone::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return sorted;
}

double mean_of(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

// The largest rank r (from 1) with P(Binomial(n, 1/2) < r) <= tail; 0 when there is none. The r-th
// smallest sample is then above the median with probability `tail` at most.
std::size_t lower_rank(std::size_t n, double tail) {
  const double count = static_cast<double>(n);
  double below = 0;
  double log_chance = -count * std::log(2.0);  // of exactly `rank`; lgamma would write a global
  std::size_t rank = 0;
  while (rank < n) {
    below += std::exp(log_chance);
    // Logarithms are rounded: a tail that is exactly allowed (1/32) must not be refused.
    if (below > tail * (1 + 1e-9)) break;
    const double k = static_cast<double>(rank);
    log_chance += std::log((count - k) / (k + 1));
    ++rank;
  }
  return rank;
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double median(std::span<const double> samples) {
  return samples.empty() ? 0 : quantile(sorted_copy(samples), 0.5);
}

Summary summarise(std::span<const double> samples) {
  if (samples.empty()) return {};
  const std::vector<double> sorted = sorted_copy(samples);
  Summary summary;
  summary.n = sorted.size();
  summary.min = sorted.front();
  summary.q1 = quantile(sorted, 0.25);
  summary.median = quantile(sorted, 0.5);
  summary.q3 = quantile(sorted, 0.75);
  summary.mean = mean_of(samples);
  double squares = 0;
  for (const double sample : samples) squares += (sample - summary.mean) * (sample - summary.mean);
  if (samples.size() > 1)
    summary.cov = std::sqrt(squares / static_cast<double>(samples.size() - 1)) / summary.mean;
  std::vector<double> deviations;
  for (const double sample : sorted) deviations.push_back(std::abs(sample - summary.median));
  summary.mad = median(deviations);
  return summary;
}

Interval median_interval(std::span<const double> samples, double confidence) {
  const std::size_t rank = lower_rank(samples.size(), (1 - confidence) / 2);
  if (rank == 0) return {-kInfinity, kInfinity};
  const std::vector<double> sorted = sorted_copy(samples);
  return {sorted[rank - 1], sorted[sorted.size() - rank]};
}

double median_lower_bound(std::span<const double> samples, double confidence) {
  const std::size_t rank = lower_rank(samples.size(), 1 - confidence);
  return rank == 0 ? -kInfinity : sorted_copy(samples)[rank - 1];
}

double relative_half_width(std::span<const double> samples, double confidence) {
  const Interval interval = median_interval(samples, confidence);
  if (!std::isfinite(interval.low)) return kInfinity;
  return (interval.high - interval.low) / 2 / median(samples);
}

std::vector<std::size_t> outliers(std::span<const double> samples, double reach) {
  const Summary summary = summarise(samples);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i] > summary.q3 + reach * (summary.q3 - summary.q1)) found.push_back(i);
  return found;
}

double lag_one_autocorrelation(std::span<const double> samples) {
  if (samples.size() < 3) return 0;
  const double mean = mean_of(samples);
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    squares += (samples[i] - mean) * (samples[i] - mean);
    if (i > 0) products += (samples[i] - mean) * (samples[i - 1] - mean);
  }
  return squares > 0 ? products / squares : 0;
}

}  // namespace hone::measure
