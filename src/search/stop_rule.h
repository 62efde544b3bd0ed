// When going on is not worth it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace hone::search {

// A search stops when what 16 more measurements are expected to gain (Strategy::expected_gain) is
// below what the finalists' comparison can tell, in kPatience rounds one after the other, and not
// before kFewest configurations were tried. A strategy that expects nothing is never stopped.
class StopRule {
 public:
  static constexpr std::size_t kFewest = 24;
  static constexpr int kPatience = 2;

  // `noise`: a difference of this share can just be told.
  explicit StopRule(double noise) : noise_(noise) {}

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
