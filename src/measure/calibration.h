// How quiet is the device? The measuring loop run on fixed work, before anything is measured.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/place.h"

namespace hone::measure {

struct CalibrationRequest {
  device::Address device;
  std::size_t rounds = 60;
};

// Times of one kernel as A and as B, sampled as a comparison would.
struct Calibration {
  std::vector<double> a_seconds;  // per launch, by round
  std::vector<double> b_seconds;
  int disturbed = 0;  // samples that somebody else's work fell into; they were taken again
  device::MachineState before;
  device::MachineState after;  // shares are of the time that this took
};

// Runs the device's calibration kernel in `rounds` rounds (about half a second for 60).
Result<Calibration> calibrate(device::Device& device, std::size_t rounds);

void to_json(nlohmann::json& json, const CalibrationRequest& request);
void from_json(const nlohmann::json& json, CalibrationRequest& request);
void to_json(nlohmann::json& json, const Calibration& calibration);
void from_json(const nlohmann::json& json, Calibration& calibration);

}  // namespace hone::measure
