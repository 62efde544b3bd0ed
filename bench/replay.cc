#include "bench/replay.h"

#include <algorithm>
#include <cmath>

#include "search/strategy.h"

namespace hone::bench {

Result<Replay> replay(const Recorded& recorded, const ReplayOptions& options) {
  const bool is_auto = options.strategy == "auto";
  const search::StrategyChoice choice = search::choose_strategy(
      {recorded.space.count(), options.most, recorded.prior != nullptr, false});
  HONE_ASSIGN(const std::unique_ptr<search::Strategy> strategy,
              search::make_strategy(is_auto ? choice.strategy : options.strategy, recorded.space,
                                    options.seed, recorded.prior));
  // Bounded as in a session (tune/services/session_steps.cc).
  search::StopRule rule(std::clamp(recorded.noise, 0.005, 0.05));
  Replay result;
  double best = INFINITY;
  while (result.measured < options.most) {
    const std::vector<space::Configuration> proposals =
        strategy->ask(std::min(options.round, options.most - result.measured));
    if (proposals.empty()) break;
    if (is_auto && rule.stops(result.measured, strategy->expected_gain())) break;
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
