// Checks, before the first measurement, that the machine is quiet enough to tell 1 % apart.
#pragma once

#include "measure/noise.h"
#include "trial/runner_service.h"
#include "tune/services/observer.h"

namespace hone::tune {

struct MachineCheck {
  measure::Noise noise;
  device::MachineState state;  // while it was measured
};

// Calibrates the device (half a second) and notes the warning, if there is one. Errors: those of
// the runner.
Result<MachineCheck> check_machine(trial::RunnerService& runner, const device::Address& device,
                                   const measure::NoiseOptions& options, Observer& observer);

}  // namespace hone::tune
