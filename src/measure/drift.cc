#include "measure/drift.h"

#include <algorithm>
#include <cmath>

#include "measure/statistics.h"

namespace hone::measure {
namespace {

bool is_valid(const TimedRun& run) {
  return std::isfinite(run.at) && std::isfinite(run.seconds) && run.seconds > 0;
}

// The first sentinel run after a moment.
std::size_t next_sentinel(std::span<const TimedRun> sentinels, double at) {
  const auto next =
      std::upper_bound(sentinels.begin(), sentinels.end(), at,
                       [](double moment, const TimedRun& run) { return moment < run.at; });
  return static_cast<std::size_t>(next - sentinels.begin());
}

bool changed_around(std::span<const TimedRun> sentinels, double at, double tolerance) {
  const std::size_t next = next_sentinel(sentinels, at);
  if (next == 0 || next == sentinels.size()) return false;
  const double before = sentinels[next - 1].seconds, after = sentinels[next].seconds;
  return std::max(before, after) > (1 + tolerance) * std::min(before, after);
}

double trend_of(std::span<const double> times) {
  const std::size_t quarter = std::max<std::size_t>(1, times.size() / 4);
  return median(times.last(quarter)) / median(times.first(quarter)) - 1;
}

}  // namespace

double sentinel_at(std::span<const TimedRun> sentinels, double at) {
  const std::size_t next = next_sentinel(sentinels, at);
  if (next == 0) return sentinels.front().seconds;
  if (next == sentinels.size()) return sentinels.back().seconds;
  const TimedRun &before = sentinels[next - 1], &after = sentinels[next];
  const double part = (at - before.at) / (after.at - before.at);
  return before.seconds + part * (after.seconds - before.seconds);
}

Result<DriftReport> correct_drift(std::span<const TimedRun> candidates,
                                  std::span<const TimedRun> sentinels,
                                  const DriftOptions& options) {
  if (sentinels.empty())
    return input_error("drift cannot be corrected: the sentinel was never measured");
  std::vector<double> times;
  for (std::size_t i = 0; i < sentinels.size(); ++i) {
    if (!is_valid(sentinels[i]) || (i > 0 && sentinels[i].at < sentinels[i - 1].at))
      return input_error("sentinel run {} ({} s at {} s) is not valid or out of order", i,
                         sentinels[i].seconds, sentinels[i].at);
    times.push_back(sentinels[i].seconds);
  }

  DriftReport report;
  report.reference_seconds = median(times);
  report.trend = trend_of(times);
  report.cov = coefficient_of_variation(times);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!is_valid(candidates[i]))
      return input_error("the run of candidate {} ({} s at {} s) is not valid", i,
                         candidates[i].seconds, candidates[i].at);
    const double ratio = candidates[i].seconds / sentinel_at(sentinels, candidates[i].at);
    report.ratios.push_back(ratio);
    report.corrected_seconds.push_back(ratio * report.reference_seconds);
    if (changed_around(sentinels, candidates[i].at, options.tolerance)) report.repeat.push_back(i);
  }
  report.drifting = std::abs(report.trend) > options.tolerance || !report.repeat.empty();
  return report;
}

}  // namespace hone::measure
