// A search as it would have gone, had each measurement given what was recorded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/recorded.h"

namespace hone::bench {

struct ReplayOptions {
  std::string strategy;
  std::uint64_t seed = 1;
  std::size_t round = 8;  // configurations that are asked for at a time, as the tuner does
  std::size_t most = 64;  // measurements
};

struct Replay {
  // After i+1 measurements, the best of them over the best there is, less one: 0.05 is 5 % slower.
  // Infinite while nothing worked. A configuration that failed counts as a measurement. After a
  // search that ended by itself the last one holds for the rest.
  std::vector<double> regret;
  std::size_t measured = 0;  // before it ended
};

// Input errors: those of search::make_strategy.
Result<Replay> replay(const Recorded& recorded, const ReplayOptions& options);

// Median and greatest of `values`, which it sorts.
struct Spread {
  double median = 0, worst = 0;
};
Spread spread(std::vector<double> values);

}  // namespace hone::bench
