// What is measured is what ships, on a GPU: a compiled program holds PTX, which the driver
// assembles when it is loaded; candidates were assembled by ptxas, which makes other code of it.
#pragma once

#include <optional>
#include <string>

#include "measure/accuracy.h"
#include "tune/dispatch/dispatch_bench.h"
#include "tune/services/context.h"

namespace hone::tune {

struct ShippedKernel {
  provider::Payload payload;  // the winner's, as the compiler spells them: for the spec
  std::string code;           // its PTX, which the compiled program must hold
  problem::Launch launch;     // of that
  // Why the winner does not ship after all: the driver refuses its PTX, or what the driver makes of
  // it computes something else. Empty else.
  std::string why_not;
  // Of one that takes the compiler's place, where the dispatch's elements are known in double
  // precision.
  std::optional<measure::AccuracyBeside> accuracy = {};
};

// Compiles the winner and the default once more, to PTX, verifies and measures both as the driver
// assembles them, interleaved, and records a measurement of phase kOwnRuntime for each; the
// winner's sentinel_ratio is its paired ratio to the default there. The bench's problem must be the
// runner's. Failure when the compiler does not make the winner again.
Result<ShippedKernel> measure_as_shipped(Context& context, DispatchBench& bench,
                                         const problem::Dispatch& dispatch, store::Id winner,
                                         const provider::Payload& payload);

// The same on a CPU: the winner and the default once more under the provider's own runtime, with
// its threads, interleaved. Records a measurement of phase kOwnRuntime for both; the winner's
// sentinel_ratio is its paired ratio to the default there. What the runtime's tool refuses is an
// event of the run, not an error.
Status measure_under_runtime(Context& context, DispatchBench& bench,
                             const problem::Dispatch& dispatch, store::Id winner);

}  // namespace hone::tune
