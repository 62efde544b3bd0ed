// Weighs a dispatch before it is tuned: its default's time, the possible gain, and the tuning time.
#pragma once

#include <optional>

#include "device/place.h"
#include "plan/work_plan.h"
#include "tune/services/context.h"

namespace hone::tune {

// Returns the seconds of one launch of the dispatch's default, from the store or verified and
// measured. A failure if it does not compile or run, or is wrong; kInterrupted if the session was
// told to stop.
Result<double> default_seconds(Context& context, const problem::Dispatch& dispatch,
                               const problem::Dispatch* reference);

// Estimates the possible gain in seconds of one program call, to order dispatches before any is
// measured. Uses the time of the dispatch's arithmetic and bytes on a machine of the device's kind.
plan::Weight estimated_weight(const Context& context, const problem::Dispatch& dispatch);
// Weighs a dispatch by its default's time, taken from the store or measured without verification.
// Errors as default_seconds().
Result<plan::Weight> weigh_dispatch(Context& context, const problem::Dispatch& dispatch);
// Least seconds of a search, whatever its dispatch's time: enough for a first round of candidates.
// The round is smaller where candidates compile while others are measured.
double least_search_seconds(const device::Traits& traits);
// Least seconds to tune a dispatch with a few candidates and its finalists. `ready`: seconds that
// its setup took, if known.
double seconds_needed(const Context& context, std::optional<double> ready);
// Least seconds for a winner as it ships, where that is other code than was measured.
double shipping_seconds(const Context& context);

}  // namespace hone::tune
