// Steps that every tuning session has, whatever its dispatches are pieces of.
#pragma once

#include "base/result.h"
#include "tune/services/context.h"
#include "tune/services/machine_check.h"

namespace hone::tune {

// Begins the time that the user gave: from here on the compiler's jobs are limited by it.
void begin_budget(Context& context);

// The machine's noise and state before the first measurement, also as an event in the store.
Result<MachineCheck> look_at_machine(Context& context);

// Asks the device once in a session what it can do at most (SessionState::peak).
Status learn_peak(Context& context);

// What the device can do at most, as facts in the store, for reports. The runner must have a
// problem.
Status record_peak(Context& context);

// What a run is that ends with this status.
store::RunState state_after(const Status& status);
// Ends the run with what `status` says of it, and the session's time budget as an event. `status`.
Status end_run(Context& context, const Status& status);

}  // namespace hone::tune
