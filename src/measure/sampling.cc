#include "measure/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "measure/statistics.h"

namespace hone::measure {
namespace {

// A quarter of fewer launches is too little to compare.
constexpr std::size_t kFewestWarmUps = 8;
constexpr double kStillFalling = 0.99;

bool is_duration(double seconds) {
  return std::isfinite(seconds) && seconds >= 0;
}

}  // namespace

Status check(const Protocol& protocol) {
  if (!is_duration(protocol.warm_up_seconds))
    return input_error("warm_up_seconds must be 0 or more, got {}", protocol.warm_up_seconds);
  if (!(protocol.max_warm_up_seconds >= protocol.warm_up_seconds))
    return input_error("max_warm_up_seconds ({}) must not be below warm_up_seconds ({})",
                       protocol.max_warm_up_seconds, protocol.warm_up_seconds);
  if (protocol.min_samples < 1) return input_error("min_samples must be at least 1");
  if (protocol.max_samples < protocol.min_samples)
    return input_error("max_samples ({}) must not be below min_samples ({})", protocol.max_samples,
                       protocol.min_samples);
  if (!(protocol.max_seconds > 0))
    return input_error("max_seconds must be above 0, got {}", protocol.max_seconds);
  if (!(protocol.target_width >= 0))
    return input_error("target_width must be 0 or more, got {}", protocol.target_width);
  if (!(protocol.confidence > 0 && protocol.confidence < 1))
    return input_error("confidence must lie between 0 and 1, got {}", protocol.confidence);
  if (!is_duration(protocol.batch_seconds))
    return input_error("batch_seconds must be 0 or more, got {}", protocol.batch_seconds);
  if (!(protocol.early_stop_factor == 0 || protocol.early_stop_factor >= 1))
    return input_error("early_stop_factor must be 0 (off) or at least 1, got {}",
                       protocol.early_stop_factor);
  if (!(protocol.screen_factor == 0 || protocol.screen_factor >= 1))
    return input_error("screen_factor must be 0 (off) or at least 1, got {}",
                       protocol.screen_factor);
  return {};
}

std::size_t batch_size(const Protocol& protocol, double seconds_per_launch) {
  if (!(seconds_per_launch > 0)) return 1;
  const double launches = std::ceil(protocol.batch_seconds / seconds_per_launch);
  return static_cast<std::size_t>(std::clamp(launches, 1.0, 1e9));
}

void WarmUp::add(double seconds) {
  times_.push_back(seconds);
  seconds_ += seconds;
}

bool WarmUp::stable() const {
  if (times_.size() < kFewestWarmUps) return false;
  const std::size_t quarter = times_.size() / 4;
  const std::span<const double> times(times_);
  const double newer = median(times.last(quarter));
  const double older = median(times.last(2 * quarter).first(quarter));
  return newer >= kStillFalling * older;
}

bool WarmUp::done() const {
  if (seconds_ >= protocol_.max_warm_up_seconds) return true;
  return seconds_ >= protocol_.warm_up_seconds && stable();
}

std::string_view name_of(Stop stop) {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 5> kNames = {
      "not stopped", "tight interval", "most samples", "time spent", "clearly slower"};
  return kNames.at(static_cast<std::size_t>(stop));
}

StoppingRule::StoppingRule(const Protocol& protocol, std::optional<double> best_seconds)
    : protocol_(protocol), best_seconds_(best_seconds) {}

Stop StoppingRule::add(double seconds_per_launch, double elapsed_seconds) {
  samples_.push_back(seconds_per_launch);
  elapsed_seconds_ += elapsed_seconds;
  stop_ = decide();
  return stop_;
}

Stop StoppingRule::decide() const {
  if (best_seconds_ && protocol_.early_stop_factor > 0 &&
      median_lower_bound(samples_, protocol_.confidence) >
          *best_seconds_ * protocol_.early_stop_factor)
    return Stop::kClearlySlower;
  if (samples_.size() >= protocol_.min_samples &&
      relative_half_width(samples_, protocol_.confidence) <= protocol_.target_width)
    return Stop::kTight;
  if (samples_.size() >= protocol_.max_samples) return Stop::kMaxSamples;
  if (elapsed_seconds_ >= protocol_.max_seconds) return Stop::kMaxSeconds;
  return Stop::kNo;
}

}  // namespace hone::measure
