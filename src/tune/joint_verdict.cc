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

}  // namespace hone::tune
