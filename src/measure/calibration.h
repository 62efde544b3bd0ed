// Measures how quiet the device is, and judges whether it is quiet enough. The measuring loop runs
// on fixed work, before anything is measured.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "device/device.h"
#include "device/place.h"
#include "measure/comparison.h"

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

struct NoiseOptions {
  double wanted = 0.01;                 // differences that are to be told
  std::size_t rounds = kDefaultRounds;  // of the comparisons to come
  ComparisonOptions comparison = {};
};

struct Noise {
  // A slowdown of this share would be found in 95 of 100 comparisons of `rounds` rounds;
  // infinite for a calibration of too few rounds.
  double smallest_difference = 0;
  double spread = 0;     // of single samples: interquartile range / median
  double disturbed = 0;  // share of samples that somebody else's work fell into
  double outliers = 0;   // share of samples far above the others (statistics.h)
  // Differences of `wanted` cannot be detected, or other processes take so much of the cores that
  // the short calibration may just have missed it.
  bool too_noisy = false;
  std::vector<std::string> findings;  // what was seen: "core 1: governor 'powersave'"
  std::vector<std::string> advice;    // what to do about each kind of finding
};

// Judges a calibration; pure.
Noise judge_noise(const Calibration& calibration, const NoiseOptions& options = {});

// Warns in a line for people if the machine is too noisy; empty otherwise.
std::string warning(const Noise& noise, const NoiseOptions& options = {});

void to_json(nlohmann::json& json, const Noise& noise);

}  // namespace hone::measure
