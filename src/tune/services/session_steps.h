// Steps common to all tuning sessions.
#pragma once

#include "base/result.h"
#include "measure/calibration.h"
#include "trial/kernel_runner.h"
#include "tune/services/context.h"

namespace hone::tune {

struct MachineCheck {
  measure::Noise noise;
  device::MachineState state;  // while it was measured
};

// Checks, before the first measurement, that the machine is quiet enough to tell 1 % apart.
// Calibrates the device (half a second) and notes the warning, if there is one. Errors: those of
// the runner.
Result<MachineCheck> check_machine(trial::RunnerService& runner, const device::Address& device,
                                   const measure::NoiseOptions& options, Observer& observer);

// Starts the user's budget, which from here on limits compile jobs.
void begin_budget(Context& context);

// Measures the machine's noise and state before the first measurement, and logs an event.
Result<MachineCheck> look_at_machine(Context& context);

// Measures the device's peak once in a session (SessionState::peak).
Status learn_peak(Context& context);

// Records the device's peaks as facts in the store, for reports. The runner must have a problem.
Status record_peak(Context& context);

// Returns the state of a run that ends with `status`.
store::RunState state_after(const Status& status);
// Ends the run in the state that `status` implies, logs the time budget as an event, and returns
// `status`.
Status end_run(Context& context, const Status& status);

}  // namespace hone::tune
