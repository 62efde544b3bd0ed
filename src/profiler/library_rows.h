// Results of vendors' libraries for an operation, beside its dispatches.
#pragma once

#include <vector>

#include "profiler/profile_run.h"

namespace hone::profiler {

// Returns the sampling protocol of a profile: at least `repetitions` samples, until the median is
// known to 1 %.
measure::Protocol profile_protocol(int repetitions, const device::Traits& traits);

// Verifies and measures the libraries' kernels for the runner's current problem, and stores them as
// candidates of `dispatch`. Returns a row for each library: its fastest correct kernel. Empty if no
// library supports the problem.
Result<std::vector<ProfileRow>> measured_libraries(tune::Context& context,
                                                   const ProfileOptions& options,
                                                   const NamedOperation& operation,
                                                   store::Id dispatch);

// Returns those rows as far as the store has them.
Result<std::vector<ProfileRow>> known_libraries(tune::Context& context,
                                                const ProfileOptions& options,
                                                const NamedOperation& operation,
                                                store::Id dispatch);

}  // namespace hone::profiler
