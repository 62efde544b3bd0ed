#include "tune/services/machine_check.h"

namespace hone::tune {

Result<MachineCheck> check_machine(trial::RunnerService& runner, const device::Address& device,
                                   const measure::NoiseOptions& options, Observer& observer) {
  HONE_ASSIGN(measure::Calibration calibration, runner.calibrate(device));
  MachineCheck check{measure::judge_noise(calibration, options), std::move(calibration.after)};
  if (const std::string text = measure::warning(check.noise, options); !text.empty())
    observer.warn(text);
  return check;
}

}  // namespace hone::tune
