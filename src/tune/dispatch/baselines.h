// What vendors' libraries make of a dispatch, as rows beside its candidates.
#pragma once

#include <optional>
#include <string>

#include "tune/dispatch/dispatch_bench.h"
#include "tune/services/context.h"

namespace hone::tune {

// Each kernel that a library offers for the problem on the bench (Runner::load_baselines) becomes a
// candidate whose provider is the library and whose artifact is of store::kLibraryFormat, with an
// identity that begins with the library's title (device/library.h); it is verified as any other.
// Those that are right are measured once, and each library's own choice and its fastest once more
// in rounds that they share with `winner` and the default: the same inputs, buffers, cache state
// and duty cycle, the memory moved before each round. What is stored of these is the libraries'
// times and their ratios to the default's; winner and default keep those of their own rounds. What
// the store knows is not measured again. Rounds end where the proof needs the time
// (Deadline::has). Returns why a library has no row; empty when each has one.
Result<std::string> measure_baselines(Context& context, DispatchBench& bench,
                                      std::optional<store::Id> winner);

}  // namespace hone::tune
