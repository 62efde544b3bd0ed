// Calls of compiled whole programs under the provider's own runtime: timed interleaved, and watched
// for how often they launch each kernel.
#pragma once

#include <cstdint>
#include <limits>
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
  // Rounds that are enough if any two programs differ in each of them by plan::kFarApart or more.
  std::size_t if_far_apart = std::numeric_limits<std::size_t>::max();
  trial::TimeBudget* time = nullptr;  // to say in which round is running; none: nowhere
};

// Returns rounds[r][c]: seconds per call of calls[c] in round r. Every round runs each call once,
// in random order and loaded anew, so that its memory lies elsewhere every time. The device and
// files of weights may stay within a round (ProgramRuntime::timers). They stay from one
// round to the next, but for programs of less than a millisecond where these vary by process.
// Errors: those of the runtime's tool; kInterrupted when told to stop.
Result<std::vector<std::vector<double>>> time_rounds(
    const provider::ProgramRuntime& runtime, const std::vector<provider::ProgramCall>& calls,
    const ProgramRounds& request, Observer& observer);

// Compiles the program into `folder`, and makes arguments for the function. Failure: it does not
// compile; the message has the compiler's words.
Result<provider::ProgramCall> compiled_call(Context& context,
                                            const trial::ProgramToCompile& program,
                                            const problem::Function& function,
                                            const std::filesystem::path& folder);

// Whether a call has to be watched to know how often it launches the program's kernels.
bool has_varying_launches(const problem::Program& program);

// Sets Dispatch::launches_per_call of dispatches whose launches vary to the runtime's counts of one
// call: 0 for a kernel that never ran. Launch sets of one kernel share its count by the places that
// launch them. Without any counts nothing changes.
void take_launches(const std::vector<provider::KernelTime>& kernels, problem::Program& program);

// Watches one call of the program if launches vary, and takes its counts. If the device's runtime
// does not count (ProgramRuntime::timers), or the program does not run, a note says
// that each place counts once. Errors: the session was told to stop; a folder that cannot be
// written.
Status count_launches(Context& context, const trial::ProgramToCompile& compiled,
                      const problem::Function& function, problem::Program& program);

}  // namespace hone::tune
