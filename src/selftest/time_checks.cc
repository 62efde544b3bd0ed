#include "selftest/time_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/calibration.h"
#include "measure/statistics.h"

namespace hone::selftest {
namespace {

// Multiply-adds of checks.mlir's @chain that depend on one another, and the cycles of each: 4 on
// NVIDIA's GPUs since Volta (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture", table
// 4.1), on a SIMD of CDNA (16 lanes, 64 threads), and on x86-64 since Skylake and Zen.
constexpr double kChainLength = 2048 * 8, kCyclesOfEach = 4;
// Shares of the clock that the driver states: a GPU need not run at its highest clock, and launches
// take time too. Above it: cycles are fewer than assumed.
constexpr double kLeastClock = 0.4, kMostClock = 1.5;
// Share of the clock that was recorded for a device of this name.
constexpr double kLeastOfRecorded = 0.7;
// Seconds by the device's events, of the host's seconds for the same work.
constexpr double kLeastOfHost = 0.5, kMostOfHost = 1.02;
// Time of a launch whose operands rotate through four times the memory, against hone's rotation.
constexpr double kMostOfRotation = 1.25;
constexpr int kMoreRotation = 4;

using Measured = trial::KernelResult<measure::MeasureResult>;

Result<std::vector<double>> seconds_of(Bench& bench, const TestKernels& kernels, const char* name,
                                       const measure::Protocol& protocol,
                                       const std::function<void(measure::ProblemRequest&)>& change,
                                       double* host_seconds = nullptr) {
  const auto kernel = kernels.find(name);
  if (kernel == kernels.end() || !kernel->second.code) return failure("@{} has no code", name);
  measure::ProblemRequest problem = bench.problem_of(kernel->second);
  problem.only_timed = true;
  change(problem);
  HONE_ASSIGN(const Measured measured, bench.time(problem, *kernel->second.code, protocol));
  if (!measured) return failure("@{}: {}", name, measured.error().message);
  const measure::HandleSamples& samples = measured->handles.front();
  if (host_seconds != nullptr)
    *host_seconds = measured->seconds / static_cast<double>(samples.launches_per_sample) /
                    static_cast<double>(samples.seconds.size());
  return samples.seconds;
}

nlohmann::json facts_of(const device::Facts& facts) {
  return {{"target", facts.target},
          {"units", facts.units},
          {"workgroup_memory_bytes", facts.workgroup_memory_bytes},
          {"last_level_cache_bytes", facts.last_level_cache_bytes}};
}

}  // namespace

Check check_facts(const device::Place& place, const Recorded& recorded) {
  Check check{.name = "facts", .found = place.facts.description, .data = facts_of(place.facts)};
  const nlohmann::json* const known = recorded.find_device(place.facts.name);
  if (known == nullptr) {
    check.outcome = Outcome::kNote;
    check.expected = fmt::format("no self-test of '{}' is recorded", place.facts.name);
    return check;
  }
  for (const auto& [fact, value] : check.data.items()) {
    if (!known->contains(fact) || known->at(fact) == value) continue;
    check.outcome = Outcome::kFailed;
    check.found = fmt::format("the driver says {} = {}", fact, value.dump());
    check.expected = fmt::format("{} = {}", fact, known->at(fact).dump());
    return check;
  }
  return check;
}

Result<Check> check_events(Bench& bench, const TestKernels& kernels) {
  // Take one launch a sample: differences between samples are then steps of the clock.
  measure::Protocol single;
  single.batch_seconds = 1e-9;
  single.min_samples = single.max_samples = 200;
  HONE_ASSIGN(std::vector<double> singles,
              seconds_of(bench, kernels, "flip_4097", single, [](auto&) {}));
  std::ranges::sort(singles);
  double step = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < singles.size(); ++i)
    if (singles[i] - singles[i - 1] > 1e-11) step = std::min(step, singles[i] - singles[i - 1]);
  measure::Protocol whole;
  whole.warm_up_seconds = whole.max_warm_up_seconds = 0;
  whole.batch_seconds = 0.1;
  whole.min_samples = whole.max_samples = 7;
  double host = 0;
  HONE_ASSIGN(const std::vector<double> batches,
              seconds_of(
                  bench, kernels, "chain", whole, [](auto&) {}, &host));
  const double ratio = measure::median(batches) / host;
  Check check{.name = "events",
              .found = fmt::format("a launch of {:.1f} us", 1e6 * measure::median(singles))};
  if (std::isfinite(step)) check.found += fmt::format(", steps of {:.2g} ns", 1e9 * step);
  check.data = {{"launch_us", 1e6 * measure::median(singles)}, {"of_host_time", ratio}};
  if (std::isfinite(step)) check.data["step_ns"] = 1e9 * step;
  if (bench.place().facts.emulated) {
    check.found = "the emulator's events do not tell the time";
    check.outcome = Outcome::kNote;
  } else if (bench.place().traits.own_memory) {  // a CPU's kernels are timed by the host's clock
    check.found += fmt::format("; events show {:.2f} of the host's time", ratio);
    if (ratio < kLeastOfHost || ratio > kMostOfHost) {
      check.outcome = Outcome::kFailed;
      check.expected = fmt::format("{} to {} of the host's time", kLeastOfHost, kMostOfHost);
    }
  }
  return check;
}

Result<Check> check_clock(Bench& bench, const TestKernels& kernels, const Recorded& recorded) {
  measure::Protocol protocol;
  protocol.max_seconds = 1;
  HONE_ASSIGN(const std::vector<double> samples,
              seconds_of(bench, kernels, "chain", protocol, [](auto&) {}));
  const double megahertz = 1e-6 * kChainLength * kCyclesOfEach / measure::median(samples);
  const nlohmann::json details =
      nlohmann::json::parse(bench.place().facts.details, nullptr, /*allow_exceptions=*/false);
  // The emulator's clock counts instructions.
  const bool is_stated = details.is_object() && !bench.place().facts.emulated;
  const double stated = is_stated ? details.value("megahertz", 0.0) : 0;
  const nlohmann::json* const known = recorded.find_device(bench.place().facts.name);
  const double before = known != nullptr ? known->value("clock_megahertz", 0.0) : 0;
  Check check{.name = "clock",
              .found = fmt::format("{:.0f} MHz by a chain of multiply-adds", megahertz)};
  check.data = {{"clock_megahertz", std::round(megahertz)}, {"stated_megahertz", stated}};
  if (before > 0 && megahertz < kLeastOfRecorded * before) {
    check.expected = fmt::format("{:.0f} MHz or more: {:.0f} MHz were recorded",
                                 kLeastOfRecorded * before, before);
    check.outcome = Outcome::kFailed;
  } else if (stated > 0 && (megahertz < kLeastClock * stated || megahertz > kMostClock * stated)) {
    check.expected = fmt::format("{:.0f} to {:.0f} MHz: the driver states {:.0f} MHz",
                                 kLeastClock * stated, kMostClock * stated, stated);
    check.outcome = Outcome::kFailed;
  } else if (before == 0 && stated == 0) {
    check.outcome = Outcome::kNote;
    check.expected = "no clock is stated or recorded for this device";
  }
  return check;
}

Result<Check> check_noise(Bench& bench) {
  HONE_ASSIGN(const measure::Calibration calibration,
              bench.runner().calibrate(bench.place().address));
  const measure::Noise noise = measure::judge_noise(calibration);
  Check check{
      .name = "noise",
      .outcome = noise.too_noisy ? Outcome::kNote : Outcome::kPassed,
      .found = fmt::format("differences of {:.2f} % can be told; samples spread by {:.2f} %",
                           100 * noise.smallest_difference, 100 * noise.spread),
      .data = noise};
  if (noise.too_noisy && !noise.findings.empty()) check.expected = noise.findings.front();
  return check;
}

Result<Check> check_rotation(Bench& bench, const TestKernels& kernels) {
  const std::int64_t cache = bench.place().facts.last_level_cache_bytes;
  Check check{.name = "rotation"};
  if (cache <= 0) {
    check.outcome = Outcome::kNote;
    check.found = "the device states no last-level cache";
    return check;
  }
  measure::Protocol protocol;
  protocol.max_seconds = 1;
  // Take turns, so that other work on the machine falls into both.
  double least[2] = {std::numeric_limits<double>::infinity(),
                     std::numeric_limits<double>::infinity()};
  for (int turn = 0; turn < 4; ++turn) {
    const int times = turn % 2 == 0 ? 1 : kMoreRotation;
    HONE_ASSIGN(const std::vector<double> samples,
                seconds_of(bench, kernels, "flip_4194304", protocol, [&](auto& problem) {
                  problem.cache = measure::CacheMode::kCold;
                  problem.last_level_cache = times * cache;
                }));
    least[turn % 2] = std::min(least[turn % 2], measure::median(samples));
  }
  const double ratio = least[1] / least[0];
  check.found = fmt::format(
      "{:.0f} us a launch by hone's rotation, {:.2f} times that by {} times "
      "the memory",
      1e6 * least[0], ratio, kMoreRotation);
  check.data = {{"us", 1e6 * least[0]}, {"ratio", ratio}};
  if (ratio > kMostOfRotation) {
    check.outcome = Outcome::kFailed;
    check.expected = fmt::format(
        "{:.2f} times at most: operands come from a cache larger than the {:.0f} MiB stated",
        kMostOfRotation, static_cast<double>(cache) / (1 << 20));
  }
  return check;
}

}  // namespace hone::selftest
