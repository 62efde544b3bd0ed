// Is the machine quiet enough? A pure judgement of a calibration (calibration.h).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure/calibration.h"
#include "measure/comparison.h"

namespace hone::measure {

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

Noise judge_noise(const Calibration& calibration, const NoiseOptions& options = {});

// Warns in a line for people if the machine is too noisy; empty otherwise.
std::string warning(const Noise& noise, const NoiseOptions& options = {});

void to_json(nlohmann::json& json, const Noise& noise);

}  // namespace hone::measure
