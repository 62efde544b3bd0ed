// Vendor libraries measured on a dispatch, as rows beside its candidates.
#pragma once

#include <optional>
#include <string>

#include "tune/dispatch/dispatch_bench.h"
#include "tune/services/context.h"

namespace hone::tune {

// Measures the kernels that libraries offer for the problem on the bench (Runner::load_baselines).
// Each becomes a candidate: its provider is the library, its artifact of store::kLibraryFormat. The
// artifact's identity begins with the library's title (device/library.h). Library kernels are
// verified as any other candidate.
// Correct ones are measured once. Each library's own choice and its fastest are measured again, in
// rounds shared with `winner` and the default. The rounds share inputs, buffers, cache state and
// duty cycle, and move the memory before each round.
// Only the libraries' times and their ratios to the default's are stored; winner and default keep
// the times of their own rounds. Results in the store are not measured again. Rounds end where the
// proof needs the time (Deadline::has).
// Returns why a library has no row; empty when each has one.
Result<std::string> measure_baselines(Context& context, DispatchBench& bench,
                                      std::optional<store::Id> winner);

}  // namespace hone::tune
