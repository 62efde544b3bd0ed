// What a dispatch's default takes, what may be gained by tuning it, and what that costs: before the
// tuning.
#pragma once

#include <optional>

#include "device/place.h"
#include "plan/work_plan.h"
#include "tune/services/context.h"

namespace hone::tune {

// Returns the seconds of one launch of the dispatch's default, which is verified and measured
// unless the store has it. A failure when it does not compile or run, or is wrong; kInterrupted
// when the session was told to stop.
Result<double> default_seconds(Context& context, const problem::Dispatch& dispatch,
                               const problem::Dispatch* reference);

// What may be gained by it, in seconds of one call of the program: by the time that its arithmetic
// and its bytes take on a machine of the device's kind, which orders dispatches before any of them
// is measured.
plan::Weight estimated_weight(const Context& context, const problem::Dispatch& dispatch);
// Weighs a dispatch by the time of its default, which is measured for it, and not verified, unless
// the store has it. Errors as default_seconds().
Result<plan::Weight> weigh_dispatch(Context& context, const problem::Dispatch& dispatch);
// Seconds that a search is given at least, whatever its dispatch's time: for a first round of
// candidates, of fewer where they compile while others are measured.
double least_search_seconds(const device::Traits& traits);
// Seconds that tuning takes at least, with a few candidates and its finalists: known once the
// dispatch was made ready, which took `ready` seconds.
double seconds_needed(const Context& context, std::optional<double> ready);

}  // namespace hone::tune
