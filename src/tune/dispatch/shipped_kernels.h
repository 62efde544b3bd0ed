// Measures the code that ships. On a GPU a compiled program holds PTX, which the driver assembles
// at load time. Candidates were assembled by ptxas, which makes other code of it.
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
  // Reason why the winner does not ship: the driver refuses its PTX, or assembles code that is
  // wrong. Empty if it ships.
  std::string why_not;
  // Accuracy of a kernel that replaces the compiler's, where the dispatch's elements are known in
  // double precision.
  std::optional<measure::AccuracyBeside> accuracy = {};
};

// Key of the server that compiles the bench's candidates as they ship.
std::string shipped_key(const DispatchBench& bench);

// Begins to compile the likely winners as they ship, and the default if it is right, while the
// device is busy.
Status compile_shipped_ahead(Context& context, const DispatchBench& bench,
                             const problem::Dispatch& dispatch,
                             const std::vector<provider::Payload>& likely);

// Compiles the winner and the default to PTX, and verifies both as the driver assembles them; the
// winner alone beside a wrong default. `is_timed`: also measures both, interleaved, and records a
// measurement of phase kOwnRuntime for each; the winner's sentinel_ratio is its paired ratio to the
// default there. The bench's problem must be the runner's. Failure when the compiler cannot make
// the winner again.
Result<ShippedKernel> verify_as_shipped(Context& context, DispatchBench& bench,
                                        const problem::Dispatch& dispatch, store::Id winner,
                                        const provider::Payload& payload, bool is_timed);

// Returns the winner's payload as the compiler spells it, for the spec; compiles the winner again.
// For devices that measure the code that ships, but whose spaces are the compiler's own statements.
Result<provider::Payload> payload_in_spec(Context& context, const DispatchBench& bench,
                                          const problem::Dispatch& dispatch,
                                          const provider::Payload& payload);

// CPU version: measures the winner and the default under the provider's own runtime, with its
// threads, interleaved. Records a measurement of phase kOwnRuntime for each; the winner's
// sentinel_ratio is its paired ratio to the default there. A refusal by the runtime's tool is an
// event of the run, not an error.
Status measure_under_runtime(Context& context, DispatchBench& bench,
                             const problem::Dispatch& dispatch, store::Id winner);

}  // namespace hone::tune
