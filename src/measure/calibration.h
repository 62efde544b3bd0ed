// Measures how quiet the device is: the measuring loop runs on fixed work, before anything is
// measured.
#pragma once

#include <cstddef>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "device/device.h"
#include "device/place.h"

namespace hone::measure {

struct CalibrationRequest {
  device::Address device;
  std::size_t rounds = 60;

  static void fields(auto& request, auto&& field) {
    field("device", request.device);
    field("rounds", request.rounds);
  }
};

// Times of one kernel as A and as B, sampled as a comparison would.
struct Calibration {
  std::vector<double> a_seconds;  // per launch, by round
  std::vector<double> b_seconds;
  int disturbed = 0;  // samples that somebody else's work fell into; they were taken again
  device::MachineState before;
  device::MachineState after;  // shares are of the time that this took

  static void fields(auto& calibration, auto&& field) {
    field("a_seconds", calibration.a_seconds);
    field("b_seconds", calibration.b_seconds);
    field("disturbed", calibration.disturbed);
    field("before", calibration.before);
    field("after", calibration.after);
  }
};

// Runs the device's calibration kernel in `rounds` rounds (about half a second for 60).
Result<Calibration> calibrate(device::Device& device, std::size_t rounds);

}  // namespace hone::measure
