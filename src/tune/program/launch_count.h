// How often one call launches each kernel, where branches and loops of the program decide it.
#pragma once

#include <string>
#include <vector>

#include "tune/services/context.h"

namespace hone::tune {

// The program, compiled into `folder`, with arguments for the function. A failure with the
// compiler's words where it does not compile.
Result<provider::ProgramCall> compiled_call(Context& context,
                                            const trial::ProgramToCompile& program,
                                            const problem::Function& function,
                                            const std::filesystem::path& folder);

// Whether a call has to be watched to know how often it launches the program's kernels.
bool has_varying_launches(const problem::Program& program);

// Sets Dispatch::launches_per_call of those whose launches vary by what the runtime counted in one
// call: 0 for a kernel that never ran. Launch sets of one kernel share its count by the places that
// launch them. Counts of no kernel at all change nothing.
void take_launches(const std::vector<provider::KernelTime>& kernels, problem::Program& program);

// Watches one call of the program where that is necessary, and takes its counts. Where the device's
// runtime does not count (ProgramProvider::tells_kernel_times), or the program does not run, a note
// says that each place counts once. Errors: the session was told to stop; a folder that cannot be
// written.
Status count_launches(Context& context, const trial::ProgramToCompile& compiled,
                      const problem::Function& function, problem::Program& program);

}  // namespace hone::tune
