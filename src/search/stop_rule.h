// When going on is not worth it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace hone::search {

// A search stops when what 16 more measurements are expected to gain (Strategy::expected_gain) is
// below what the finalists' comparison can tell, in kPatience rounds one after the other, and not
// before kFewest configurations were tried. A strategy that expects nothing is never stopped.
//
// On a noisy machine a search needs more measurements, not fewer, and the finalists' rounds, of
// which there are more than the look at the machine speaks of, still tell kMost: a gain above kMost
// is always worth a try.
class StopRule {
 public:
  static constexpr std::size_t kFewest = 24;
  static constexpr int kPatience = 2;
  static constexpr double kMost = 0.01;  // the band of a tie (measure/ties.h)

  // `noise`: the smallest relative difference that can be detected.
  explicit StopRule(double noise) : noise_(std::min(noise, kMost)) {}

  // To be asked once before each round, with the configurations tried so far.
  bool stops(std::size_t tried, std::optional<double> expected_gain);
  // "expected gain 0.4 % below noise 0.9 %", once it stops.
  std::string reason() const;

 private:
  double noise_;
  int rounds_ = 0;  // below the noise, one after the other
  double gain_ = 0;
};

}  // namespace hone::search
