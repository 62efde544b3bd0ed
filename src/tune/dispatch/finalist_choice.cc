#include "tune/dispatch/finalist_choice.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
// Limits of the finalists. On a GPU one batch decides: of 1,500 candidates of one GEMM two seemed
// 1.7x and 1.4x as fast as the true best. The first was above the GPU's peak operations per second
// (docs/studies/search-regret.md). Such outliers must not be the only finalists.
constexpr Reach kBySamples{1.10, 10, 4}, kByBatches{1.03, 6, 4};

// Launches of a finalist in the fewest rounds that give a verdict (ten: race.h). Each round has a
// first launch, a warm-up, a timed and a compared one. Bounds the number of finalists of a slow
// kernel.
constexpr double kFewestLaunches = 40;

// Candidates considered by absolute time, and how many of them may displace finalists chosen by
// ratio.
constexpr std::size_t kByOwnTime = 4, kPushOut = 2;
// Relative difference of the default's times that makes these candidates join. Below it, ratios and
// absolute times do not disagree because of the default.
constexpr double kOtherDefault = 0.05;

// Adds candidates by absolute time. `measured` is sorted by ratio and not empty.
void add_by_own_time(std::vector<store::Id>& finalists, std::vector<Measured> measured,
                     std::size_t most) {
  const double beside_best = measured.front().seconds / measured.front().ratio;
  std::erase_if(measured, [](const Measured& each) { return each.seconds == 0; });
  std::ranges::stable_sort(measured, {}, &Measured::seconds);
  if (measured.size() > kByOwnTime) measured.resize(kByOwnTime);
  std::size_t pushed_out = 0;
  for (const Measured& each : measured) {
    if (std::ranges::count(finalists, each.candidate) > 0) continue;
    if (std::abs(each.seconds / each.ratio / beside_best - 1) <= kOtherDefault) continue;
    if (finalists.size() < most)
      finalists.push_back(each.candidate);
    else if (pushed_out < std::min(kPushOut, finalists.size() - 1))
      finalists[finalists.size() - ++pushed_out] = each.candidate;
  }
}

}  // namespace

double finalist_seconds(double seconds, bool one_batch_tells) {
  return std::clamp(seconds * kShare, one_batch_tells ? kFewestSecondsByBatches : kFewestSeconds,
                    kMostSeconds);
}

std::vector<store::Id> choose_finalists(std::vector<Measured> measured, const FinalistTime& time) {
  std::ranges::sort(measured, {},
                    [](const Measured& each) { return std::pair(each.ratio, each.candidate); });
  if (!time.default_is_wrong)
    std::erase_if(measured, [](const Measured& each) { return each.ratio >= 1; });
  if (measured.empty()) return {};
  const double best = measured.front().ratio;
  const Reach& reach = time.one_batch_tells ? kByBatches : kBySamples;
  const double affordable = time.seconds / kFewestLaunches / (time.default_seconds * best);
  const auto most = static_cast<std::size_t>(
      std::clamp(affordable, static_cast<double>(reach.fewest), reach.most));
  std::vector<store::Id> finalists;
  for (const Measured& each : measured)
    if (finalists.size() < most &&
        (each.ratio <= best * reach.of_best || finalists.size() < reach.fewest))
      finalists.push_back(each.candidate);
  if (!time.one_batch_tells) add_by_own_time(finalists, std::move(measured), most);
  return finalists;
}

}  // namespace hone::tune
