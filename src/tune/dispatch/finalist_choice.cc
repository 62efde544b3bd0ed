#include "tune/dispatch/finalist_choice.h"

#include <algorithm>

namespace hone::tune {
namespace {

constexpr double kShare = 0.25;
constexpr double kMostSeconds = 20;
constexpr double kFewestSeconds = 3;
constexpr double kFewestSecondsByBatches = 1;

struct Reach {
  double of_best;
  double most;
  std::size_t fewest;  // however far they are from the best
};
// On a GPU one batch decides: of 1,500 candidates of one GEMM two seemed 1.7 and 1.4 times as fast
// as the true best, the first at more operations a second than the GPU has (docs/benchmarks.md).
// Such ones must not be the only finalists.
constexpr Reach kBySamples{1.10, 10, 4}, kByBatches{1.03, 6, 4};

// Launches of a finalist in the fewest rounds that give a verdict (ten: race.h): a first one, one
// of warm-up, one that is timed, one that is compared. Bounds how many finalists of a slow kernel
// there is time for.
constexpr double kFewestLaunches = 40;

}  // namespace

double finalist_seconds(double seconds, bool one_batch_tells) {
  return std::clamp(seconds * kShare, one_batch_tells ? kFewestSecondsByBatches : kFewestSeconds,
                    kMostSeconds);
}

std::vector<store::Id> choose_finalists(std::vector<Measured> measured, const FinalistTime& time) {
  std::sort(measured.begin(), measured.end());
  std::erase_if(measured, [](const Measured& each) { return each.first >= 1; });
  if (measured.empty()) return {};
  const double best = measured.front().first;
  const Reach& reach = time.one_batch_tells ? kByBatches : kBySamples;
  const double affordable = time.seconds / kFewestLaunches / (time.default_seconds * best);
  const auto most = static_cast<std::size_t>(
      std::clamp(affordable, static_cast<double>(reach.fewest), reach.most));
  std::vector<store::Id> finalists;
  for (const auto& [ratio, candidate] : measured)
    if (finalists.size() < most &&
        (ratio <= best * reach.of_best || finalists.size() < reach.fewest))
      finalists.push_back(candidate);
  return finalists;
}

}  // namespace hone::tune
