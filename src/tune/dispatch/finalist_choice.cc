#include "tune/dispatch/finalist_choice.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plan/policy.h"

namespace hone::tune {
namespace {

// Adds candidates by absolute time. `measured` is sorted by ratio and not empty.
void add_by_own_time(std::vector<store::Id>& finalists, std::vector<Measured> measured,
                     std::size_t most) {
  const double beside_best = measured.front().seconds / measured.front().ratio;
  std::erase_if(measured, [](const Measured& each) { return each.seconds == 0; });
  std::ranges::stable_sort(measured, {}, &Measured::seconds);
  if (measured.size() > plan::kFinalistsByOwnTime) measured.resize(plan::kFinalistsByOwnTime);
  std::size_t pushed_out = 0;
  for (const Measured& each : measured) {
    if (std::ranges::count(finalists, each.candidate) > 0) continue;
    if (std::abs(each.seconds / each.ratio / beside_best - 1) <= plan::kOtherDefault) continue;
    if (finalists.size() < most)
      finalists.push_back(each.candidate);
    else if (pushed_out < std::min(plan::kFinalistsDisplaced, finalists.size() - 1))
      finalists[finalists.size() - ++pushed_out] = each.candidate;
  }
}

}  // namespace

double finalist_seconds(double seconds, bool one_batch_tells) {
  return std::clamp(
      seconds * plan::kFinalistShare,
      one_batch_tells ? plan::kFewestFinalistSecondsByBatches : plan::kFewestFinalistSeconds,
      plan::kMostFinalistSeconds);
}

std::vector<store::Id> choose_finalists(std::vector<Measured> measured, const FinalistTime& time) {
  std::ranges::sort(measured, {},
                    [](const Measured& each) { return std::pair(each.ratio, each.candidate); });
  if (!time.default_is_wrong)
    std::erase_if(measured, [](const Measured& each) { return each.ratio >= 1; });
  if (measured.empty()) return {};
  const double best = measured.front().ratio;
  const plan::FinalistReach& reach =
      time.one_batch_tells ? plan::kFinalistsByBatches : plan::kFinalistsBySamples;
  const double affordable =
      time.seconds / plan::kFewestFinalistLaunches / (time.default_seconds * best);
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
