// Repeats a proof with the compiled programs that it shipped: whether the outputs are still right,
// and the shipped one still faster than the default. Nothing is compiled.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "measure/comparison.h"
#include "measure/verification.h"
#include "problem/npy.h"
#include "provider/program_runtime.h"
#include "tune/services/context.h"

namespace hone::tune {

// Compares the call's outputs with the references, each within its tolerance. Errors: input if
// numbers or types differ; failure if the program does not run.
Result<std::vector<measure::Comparison>> recheck_outputs(
    const provider::ProgramRuntime& runtime, const provider::ProgramCall& call,
    const std::vector<problem::Array>& references,
    const std::vector<measure::Tolerance>& tolerances);

enum class SpeedState {
  kStillFaster,
  kNoLongerFaster,  // slower, or certainly below the interval of the proof
  kUndecided,       // neither, in the time given
};
std::string_view name_of(SpeedState state);  // "still faster", "no longer faster", "undecided"

struct SpeedRequest {
  provider::ProgramCall baseline, shipped;
  double proved_low = 1;  // of the proof's interval of the speedup
  // Seconds in which rounds begin. Rounds end before that, once more of them would not tell more.
  double seconds = 15;
  std::uint64_t seed = 42;  // of the order
  measure::ComparisonOptions statistics = {};
};

struct RecheckedSpeed {
  SpeedState state = SpeedState::kUndecided;
  measure::PairedComparison comparison;  // of the shipped program against the default
};

// Times both programs interleaved, each loaded anew in every round. Errors: those of time_rounds.
Result<RecheckedSpeed> recheck_speed(const provider::ProgramRuntime& runtime,
                                     const SpeedRequest& request, Observer& observer);

}  // namespace hone::tune
