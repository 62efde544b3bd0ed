// Launches of each kernel per call, if branches and loops of the program decide them.
#pragma once

#include <string>
#include <vector>

#include "tune/services/context.h"

namespace hone::tune {

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
// does not count (ProgramProvider::timers), or the program does not run, a note says
// that each place counts once. Errors: the session was told to stop; a folder that cannot be
// written.
Status count_launches(Context& context, const trial::ProgramToCompile& compiled,
                      const problem::Function& function, problem::Program& program);

}  // namespace hone::tune
