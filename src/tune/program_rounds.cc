#include "tune/program_rounds.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "base/stopwatch.h"

namespace hone::tune {

Result<std::vector<std::vector<double>>> time_rounds(
    const provider::ProgramProvider& provider, const std::vector<provider::ProgramCall>& calls,
    const ProgramRounds& request, Observer& observer) {
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 generator(request.seed);
  std::vector<std::vector<double>> times;
  const Stopwatch watch;
  for (std::size_t round = 0; round < request.rounds; ++round) {
    Progress progress;
    progress.step = "program";
    progress.tried = round;
    progress.planned = request.rounds;
    if (round > 0)
      progress.seconds_left = watch.seconds() / static_cast<double>(round) *
                              static_cast<double>(request.rounds - round);
    observer.progress(progress);
    std::shuffle(order.begin(), order.end(), generator);
    std::vector<double>& row = times.emplace_back(calls.size());
    for (const std::size_t c : order) {
      HONE_ASSIGN(row[c], provider.time_program(calls[c], request.seconds));
    }
  }
  return times;
}

}  // namespace hone::tune
