#include "tune/protocols.h"

#include <nlohmann/json.hpp>

#include "tune/finalists.h"
#include "tune/program_rounds.h"

namespace hone::tune {
namespace {

// A long launch averages over what disturbs a short one, and a search over slow kernels must not
// take its whole budget for a few.
constexpr std::size_t kSamplesOfLongKernels = 3;
constexpr double kLongKernelSeconds = 0.02;

// Before it is a finalist a candidate must be within a tenth of the best; a GPU's batches differ by
// a percent, so that one batch tells who is not.
constexpr double kScreenFactor = 1.3;

// On either side of every length at which a protocol changes.
constexpr double kShortKernelSeconds = 1e-4, kLongestKernelSeconds = 10;

}  // namespace

measure::Protocol search_protocol(double default_seconds, bool gpu) {
  measure::Protocol protocol;
  if (gpu) {
    // Its clocks are up from the candidate before, and no other process takes it away.
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

// To find a library's fastest; the rounds beside the winner say how fast it is.
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

nlohmann::json protocols_in_use(bool gpu) {
  const ProgramRounds program;
  nlohmann::json protocols{
      {"version", kProtocolVersion},
      {"search",
       {search_protocol(kShortKernelSeconds, gpu), search_protocol(kLongestKernelSeconds, gpu)}},
      {"finalists",
       {finalist_protocol(kShortKernelSeconds), finalist_protocol(kLongestKernelSeconds)}},
      {"finalist_rounds", finalist_round_constants(gpu)},
      {"baselines", {{"rounds", kBaselineRounds}, {"protocol", baseline_protocol()}}},
      {"program", {{"rounds", program.rounds}, {"seconds", program.seconds}}}};
  if (gpu) protocols["shipped"] = {{"rounds", kShippedRounds}, {"protocol", shipped_protocol()}};
  return protocols;
}

}  // namespace hone::tune
