// Whole programs timed interleaved under the provider's own runtime.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "provider/program_provider.h"
#include "trial/protocols.h"
#include "trial/time_budget.h"
#include "tune/services/context.h"

namespace hone::tune {

struct ProgramRounds {
  std::size_t rounds = trial::kProgramRounds;
  double seconds = trial::kProgramSampleSeconds;  // of each call's sample
  std::uint64_t seed = 1;                         // of the order within each round
  // No further round begins that would exceed `most_seconds` in all, once there are `least` of
  // them: a process that maps gigabytes of weights takes seconds to start.
  double most_seconds = std::numeric_limits<double>::infinity();
  std::size_t least = 1;
  trial::TimeBudget* time = nullptr;  // to say in which round is running; none: nowhere
};

// Returns rounds[r][c]: seconds per call of calls[c] in round r. Every round runs each call once,
// in random order and loaded anew, so that its memory lies elsewhere every time. The device and
// files of weights may stay within a round (ProgramProvider::timers). They stay from one
// round to the next only in programs of a millisecond or more. Errors: those of the runtime's tool;
// kInterrupted when told to stop.
Result<std::vector<std::vector<double>>> time_rounds(
    const provider::ProgramProvider& provider, const std::vector<provider::ProgramCall>& calls,
    const ProgramRounds& request, Observer& observer);

}  // namespace hone::tune
