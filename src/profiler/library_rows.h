// What vendors' libraries make of an operation, beside its dispatches.
#pragma once

#include <vector>

#include "profiler/profile_run.h"

namespace hone::profiler {

// How a kernel of a profile is sampled: until its median is known to a percent, `repetitions`
// samples at least.
measure::Protocol profile_protocol(int repetitions, const device::Traits& traits);

// Verifies and measures the kernels that libraries have for the problem which the runner has, and
// stores them as candidates of `dispatch`. A row for each library: its fastest right kernel. None
// where no library is for the problem.
Result<std::vector<ProfileRow>> measured_libraries(tune::Context& context,
                                                   const ProfileOptions& options,
                                                   const Operation& operation, store::Id dispatch);

// Returns those rows as far as the store has them.
Result<std::vector<ProfileRow>> known_libraries(tune::Context& context,
                                                const ProfileOptions& options,
                                                const Operation& operation, store::Id dispatch);

}  // namespace hone::profiler
