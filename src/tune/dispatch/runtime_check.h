// What is measured is what ships: the winner and the default once more under the provider's own
// runtime, with its threads, interleaved.
#pragma once

#include "tune/dispatch/dispatch_bench.h"
#include "tune/services/context.h"

namespace hone::tune {

// Records a measurement of phase kOwnRuntime for both; the winner's sentinel_ratio is its paired
// ratio to the default there. What the runtime's tool refuses is an event of the run, not an error.
Status measure_under_runtime(Context& context, DispatchBench& bench,
                             const problem::Dispatch& dispatch, store::Id winner);

}  // namespace hone::tune
