// The sentinel: the default configuration, run again and again between candidates. A candidate's
// time is also given as a ratio to the sentinel around it, so that a machine that slows down, warms
// up or is shared does not change the ranking.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

namespace hone::measure {

// One run of the sentinel or of a candidate.
struct TimedRun {
  double at = 0;       // middle of the run, seconds on one clock
  double seconds = 0;  // median time per launch
};

struct DriftOptions {
  // Candidates are repeated where the sentinels before and after differ by more than this share:
  // the machine changed in between, and nobody knows when. (A change that lasts is in the ratio.)
  double tolerance = 0.03;
};

struct DriftReport {
  double reference_seconds = 0;  // median of the sentinel runs
  double trend = 0;              // last quarter's median / first quarter's - 1: +0.1 = 10 % slower
  double cov = 0;                // of the sentinel runs
  bool drifting = false;         // |trend| above the tolerance, or any sample to repeat
  std::vector<double> ratios;    // candidate / sentinel at that moment, one for each candidate
  std::vector<double> corrected_seconds;  // ratio x reference_seconds
  std::vector<std::size_t> repeat;        // candidates to measure again, ascending
};

// The sentinel's time at a moment: linear between the runs before and after, constant outside.
// `sentinels` are ascending in time and not empty.
double sentinel_at(std::span<const TimedRun> sentinels, double at);

// Input error when there is no sentinel run, they are not in order of time, or a time is not
// positive and finite.
Result<DriftReport> correct_drift(std::span<const TimedRun> candidates,
                                  std::span<const TimedRun> sentinels,
                                  const DriftOptions& options = {});

}  // namespace hone::measure
