#include "tune/dispatch/combined_verdict.h"

#include <algorithm>
#include <cmath>

#include "plan/policy.h"

namespace hone::tune {

using measure::Verdict;

namespace {

double margin_of(const measure::PairedComparison& comparison) {
  return std::max(plan::kLeastMargin,
                  measure::smallest_difference(measure::half_width(comparison)));
}

// Too few rounds cannot exclude a slowdown.
bool may_be_slower(const measure::PairedComparison& comparison) {
  return comparison.too_few || comparison.interval.high > 1 + margin_of(comparison);
}

}  // namespace

double slower_margin(std::span<const measure::PairedComparison> comparisons) {
  double margin = plan::kLeastMargin;
  for (const measure::PairedComparison& each : comparisons)
    margin = std::max(margin, margin_of(each));
  return margin;
}

Verdict combined_verdict(std::span<const measure::PairedComparison> comparisons) {
  if (comparisons.size() == 1) return comparisons.front().verdict;
  const auto any = [&](Verdict verdict) {
    return std::ranges::any_of(comparisons,
                               [&](const auto& each) { return each.verdict == verdict; });
  };
  if (any(Verdict::kFaster))
    return std::ranges::any_of(comparisons, may_be_slower) ? Verdict::kNoDifferent
                                                           : Verdict::kFaster;
  return any(Verdict::kSlower) ? Verdict::kSlower : Verdict::kNoDifferent;
}

double mean_ratio(std::span<const measure::PairedComparison> comparisons) {
  double sum = 0;
  for (const measure::PairedComparison& each : comparisons) sum += std::log(each.ratio);
  return std::exp(sum / static_cast<double>(comparisons.size()));
}

std::optional<std::size_t> fastest_of(
    std::span<const std::vector<measure::PairedComparison>> candidates, std::size_t conditions) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].size() < conditions) continue;
    if (combined_verdict(candidates[i]) != Verdict::kFaster) continue;
    if (!best || mean_ratio(candidates[i]) < mean_ratio(candidates[*best])) best = i;
  }
  return best;
}

}  // namespace hone::tune
