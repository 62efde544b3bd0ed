#include "tune/program/program_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "base/stopwatch.h"
#include "plan/policy.h"

namespace hone::tune {
Result<std::vector<std::vector<double>>> time_rounds(
    const provider::ProgramProvider& provider, const std::vector<provider::ProgramCall>& calls,
    const ProgramRounds& request, Observer& observer) {
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 generator(request.seed);
  std::vector<std::vector<double>> times;
  provider::ProgramTimer time_of = provider.timers(calls.front().device).programs;
  const Stopwatch watch;
  std::size_t rounds = request.rounds;
  std::string described;  // before the first round
  for (std::size_t round = 0; round < rounds; ++round) {
    Progress progress;
    progress.stage = Stage::kProgramRounds;
    progress.step = "timing the whole program, round";
    progress.tried = round;
    if (round > 0) {
      const double each = watch.seconds() / static_cast<double>(round);
      const double fit =
          std::clamp(request.most_seconds / each, 1.0, static_cast<double>(request.rounds));
      rounds =
          std::max({static_cast<std::size_t>(fit), std::min(request.least, request.rounds), round});
      if (round == rounds) break;
      progress.seconds_left = each * static_cast<double>(rounds - round);
    }
    progress.planned = rounds;
    observer.progress(progress);
    if (request.time != nullptr) {
      std::string before = request.time->describe(fmt::format("round {} of {}", round + 1, rounds));
      if (round == 0) described = std::move(before);
    }
    std::shuffle(order.begin(), order.end(), generator);
    // Calls of one round share a process, so that they can be compared. Rounds of several processes
    // show both times, as the user's processes will.
    if (round > 0 && std::ranges::min(times.front()) < plan::kSteadyCallSeconds)
      time_of = provider.timers(calls.front().device).programs;
    std::vector<double>& row = times.emplace_back(calls.size());
    for (const std::size_t c : order) {
      HONE_ASSIGN(row[c], time_of(calls[c], request.seconds));
    }
  }
  if (request.time != nullptr) request.time->describe(std::move(described));
  return times;
}

}  // namespace hone::tune
