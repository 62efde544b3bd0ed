#include "trial/protocols.h"

#include <nlohmann/json.hpp>

#include "measure/race.h"

namespace hone::trial {
namespace {

// A long launch averages over what disturbs a short one, and a search over slow kernels must not
// take its whole budget for a few. Three samples of a short one bridge an interruption.
constexpr std::size_t kSamplesOfLongKernels = 3;
constexpr double kLongKernelSeconds = 0.02;

// A device whose batches differ little is warm once it has run the other finalists.
constexpr double kWarmUpSecondsOfBatches = 0.004;

// A load of two kernels that a user compares takes at most this long: a kernel that takes seconds
// gets fewer rounds, one that hangs is ended by the runner's limit.
constexpr double kMostSecondsPerLoad = 60;

// Before it is a finalist a candidate must be within a tenth of the best; where one batch tells, it
// says who is not.
constexpr double kScreenFactor = 1.3;

// Kernel times on either side of each threshold at which a protocol changes.
constexpr double kShortKernelSeconds = 1e-4, kLongestKernelSeconds = 10;

}  // namespace

measure::Protocol search_protocol(double default_seconds, const device::Traits& traits) {
  measure::Protocol protocol;
  if (traits.one_batch_tells) {
    // The clocks are up from the candidate before, and no other process uses the device.
    protocol.screen_factor = kScreenFactor;
    protocol.warm_up_seconds = 0.002;
    protocol.batch_seconds = 0.0005;
  }
  if (default_seconds > kLongKernelSeconds) protocol.min_samples = kSamplesOfLongKernels;
  // A few percent are enough to rank by: the finalists' rounds tell the best apart.
  protocol.target_width = 0.01;
  protocol.max_samples = 20;
  protocol.max_seconds = 0.12;
  protocol.max_warm_up_seconds = 0.05;
  return protocol;
}

measure::Protocol finalist_protocol(double seconds_per_launch, const device::Traits& traits) {
  measure::Protocol protocol;
  protocol.warm_up_seconds = 0.004;
  protocol.max_warm_up_seconds = traits.one_batch_tells ? kWarmUpSecondsOfBatches : 0.02;
  protocol.min_samples = seconds_per_launch > kLongKernelSeconds ? 1 : 3;
  protocol.max_samples = protocol.min_samples;
  protocol.early_stop_factor = 0;
  return protocol;
}

nlohmann::json finalist_round_constants(const device::Traits& traits) {
  const measure::RaceOptions race;
  nlohmann::json constants{{"fewest_of_four", measure::Race(4).fewest_rounds()},
                           {"most", measure::Race::kMostRounds},
                           {"looks", measure::Race::kLooks},
                           {"alpha", race.ties.alpha},
                           {"threshold", race.ties.threshold},
                           {"band", race.ties.band},
                           {"tight", race.tight}};
  if (traits.one_batch_tells) constants["max_warm_up_seconds"] = kWarmUpSecondsOfBatches;
  return constants;
}

measure::Protocol comparison_protocol(std::size_t samples) {
  measure::Protocol protocol;
  protocol.max_warm_up_seconds = 0.1;
  protocol.min_samples = samples;
  protocol.max_samples = samples;
  protocol.max_seconds = kMostSecondsPerLoad;
  protocol.early_stop_factor = 0;
  return protocol;
}

// Finds a library's fastest kernel; the rounds beside the winner measure how fast it is.
measure::Protocol baseline_protocol() {
  measure::Protocol protocol;
  protocol.warm_up_seconds = 0.004;
  protocol.max_warm_up_seconds = 0.02;
  protocol.target_width = 0.01;
  protocol.max_samples = 10;
  protocol.max_seconds = 0.05;
  return protocol;
}

measure::Protocol shipped_protocol() {
  measure::Protocol protocol;
  protocol.warm_up_seconds = 0.004;
  protocol.max_warm_up_seconds = 0.02;
  protocol.min_samples = 3;
  protocol.max_samples = 3;
  protocol.early_stop_factor = 0;
  return protocol;
}

nlohmann::json protocols_in_use(const device::Traits& traits) {
  nlohmann::json protocols{
      {"version", kProtocolVersion},
      {"search",
       {search_protocol(kShortKernelSeconds, traits),
        search_protocol(kLongestKernelSeconds, traits)}},
      {"finalists",
       {finalist_protocol(kShortKernelSeconds), finalist_protocol(kLongestKernelSeconds)}},
      {"finalist_rounds", finalist_round_constants(traits)},
      {"baselines", {{"rounds", kBaselineRounds}, {"protocol", baseline_protocol()}}},
      {"program", {{"rounds", kProgramRounds}, {"seconds", kProgramSampleSeconds}}}};
  if (traits.assembles_code)
    protocols["shipped"] = {{"rounds", kShippedRounds}, {"protocol", shipped_protocol()}};
  return protocols;
}

}  // namespace hone::trial
