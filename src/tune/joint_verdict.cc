#include "tune/joint_verdict.h"

#include <algorithm>
#include <cmath>

namespace hone::tune {

using measure::Verdict;

Verdict joint_verdict(std::span<const measure::PairedComparison> comparisons) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(comparisons.begin(), comparisons.end(),
                       [&](const auto& each) { return each.verdict == verdict; });
  };
  const bool faster = any(Verdict::kFaster), slower = any(Verdict::kSlower);
  if (faster == slower) return Verdict::kNoDifferent;
  return faster ? Verdict::kFaster : Verdict::kSlower;
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
    if (joint_verdict(candidates[i]) != Verdict::kFaster) continue;
    if (!best || mean_ratio(candidates[i]) < mean_ratio(candidates[*best])) best = i;
  }
  return best;
}

}  // namespace hone::tune
