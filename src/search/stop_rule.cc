#include "search/stop_rule.h"

#include <fmt/format.h>

namespace hone::search {

bool StopRule::stops(std::size_t tried, std::optional<double> expected_gain) {
  rounds_ = expected_gain && *expected_gain < noise_ ? rounds_ + 1 : 0;
  gain_ = expected_gain.value_or(0);
  return rounds_ >= kPatience && tried >= kFewest;
}

std::string StopRule::reason() const {
  return fmt::format("expected gain {:.1f} % below noise {:.1f} %", 100 * gain_, 100 * noise_);
}

}  // namespace hone::search
