// Whole programs timed interleaved under the provider's own runtime.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "provider/program_provider.h"
#include "tune/observer.h"
#include "tune/protocols.h"

namespace hone::tune {

struct ProgramRounds {
  std::size_t rounds = kProgramRounds;
  double seconds = kProgramSampleSeconds;  // of each call's sample
  std::uint64_t seed = 1;                  // of the order within each round
};

// rounds[r][c]: seconds per call of calls[c] in round r. In every round each runs once, in random
// order, as a process of its own, so that where its memory lies is drawn anew every time.
// Errors: those of the runtime's tool; kInterrupted when told to stop.
Result<std::vector<std::vector<double>>> time_rounds(
    const provider::ProgramProvider& provider, const std::vector<provider::ProgramCall>& calls,
    const ProgramRounds& request, Observer& observer);

}  // namespace hone::tune
