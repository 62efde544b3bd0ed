#include "bench/replay.h"

#include <algorithm>
#include <cmath>

#include "search/strategy.h"

namespace hone::bench {

Result<Replay> replay(const Recorded& recorded, const ReplayOptions& options) {
  HONE_ASSIGN(
      const std::unique_ptr<search::Strategy> strategy,
      search::make_strategy(options.strategy, recorded.space, options.seed, recorded.prior));
  Replay result;
  double best = INFINITY;
  while (result.measured < options.most) {
    const std::vector<space::Configuration> proposals =
        strategy->ask(std::min(options.round, options.most - result.measured));
    if (proposals.empty()) break;
    for (const space::Configuration& each : proposals) {
      const std::optional<double>& score = recorded.scores.at(each);
      strategy->tell(each, score);
      if (score) best = std::min(best, *score);
      result.regret.push_back(best / recorded.best - 1);
      ++result.measured;
    }
  }
  result.regret.resize(options.most, best / recorded.best - 1);
  return result;
}

Spread spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.back()};
}

}  // namespace hone::bench
