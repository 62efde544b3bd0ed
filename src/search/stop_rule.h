// When going on is not worth it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace hone::search {

// Stops a search when 16 more measurements are expected to gain (Strategy::expected_gain) less than
// the finalists' comparison can detect. This must hold in kPatience consecutive rounds, and kFewest
// configurations must have been tried. A strategy without an estimate is never stopped.
//
// A noisy machine needs more measurements, not fewer. The finalists' rounds outnumber those that
// the noise estimate assumes, and still detect kMost: a gain above kMost is always worth a try.
class StopRule {
 public:
  static constexpr std::size_t kFewest = 24;
  static constexpr int kPatience = 2;
  static constexpr double kMost = 0.01;  // the band of a tie (measure/ties.h)

  // `noise`: the smallest relative difference that can be detected.
  explicit StopRule(double noise) : noise_(std::min(noise, kMost)) {}

  // Call it once before each round, with the number of configurations tried so far.
  bool stops(std::size_t tried, std::optional<double> expected_gain);
  // "expected gain 0.4 % below noise 0.9 %", once it stops.
  std::string reason() const;

 private:
  double noise_;
  int rounds_ = 0;  // below the noise, one after the other
  double gain_ = 0;
};

}  // namespace hone::search
