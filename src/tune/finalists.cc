#include "tune/finalists.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/stopwatch.h"
#include "measure/statistics.h"

namespace hone::tune {
namespace {

constexpr std::size_t kFewestRounds = 8;
constexpr std::size_t kMostRounds = 128;
// Looking after every round would find a difference by chance sooner or later. Bonferroni over the
// looks after 8, 16, ... 128 rounds; when time runs out between two of them it is the next one
// early.
constexpr int kLooks = 5;
// Half-width of the interval of best / default at which there is nothing left to learn.
constexpr double kTight = 0.005;

// Three samples of a short kernel bridge an interruption; a long one averages over it.
constexpr double kLongKernelSeconds = 0.02;

// A GPU that has just run the other finalists is warm.
constexpr double kGpuWarmUpSeconds = 0.004;

measure::TieOptions ties_at_each_look() {
  measure::TieOptions options;
  options.alpha /= kLooks;
  return options;
}

class FinalistMeasurement {
 public:
  FinalistMeasurement(Context& context, DispatchBench& bench) : context_(context), bench_(bench) {}

  Status enter(const std::vector<store::Id>& finalists) {
    result_.candidates = finalists;
    result_.candidates.push_back(bench_.default_candidate());
    for (const store::Id candidate : result_.candidates) {
      HONE_ASSIGN(provider::Artifact artifact, bench_.artifact(candidate));
      artifacts_.push_back(std::move(artifact));
    }
    std::vector<std::string> identities;
    for (const provider::Artifact& artifact : artifacts_)
      identities.push_back(provider::identity(artifact));
    samples_ = FinalistSamples(std::move(identities));
    return {};
  }

  Status measure_round() {
    measure::MeasureRequest request;
    for (const provider::Artifact& artifact : artifacts_) {
      HONE_ASSIGN(const Ran<int> handle, context_.runner.load(artifact));
      if (!handle) return failure("a finalist no longer loads: {}", handle.error().message);
      request.handles.push_back(*handle);
    }
    request.other_memory = true;
    request.protocol = finalist_protocol(bench_.default_seconds());
    if (context_.options.cuda) request.protocol.max_warm_up_seconds = kGpuWarmUpSeconds;
    request.seed = context_.options.seed + result_.rounds.size();
    HONE_ASSIGN(const Ran<measure::MeasureResult> measured, context_.runner.measure(request));
    if (!measured) return failure("measuring the finalists failed: {}", measured.error().message);
    for (const int handle : request.handles) HONE_TRY(context_.runner.unload(handle));

    HONE_TRY(samples_.add(*measured));
    result_.rounds = samples_.rounds();
    return {};
  }

  // Whether more rounds would not say more.
  Result<bool> look() {
    std::vector<std::vector<double>> without_default = result_.rounds;
    for (std::vector<double>& row : without_default) row.pop_back();
    HONE_ASSIGN(result_.ties, measure::find_ties(without_default, ties_at_each_look()));
    if (!result_.ties.settled()) return false;
    HONE_ASSIGN(const measure::PairedComparison gain,
                measure::compare_paired(result_.times(artifacts_.size() - 1),
                                        result_.times(result_.ties.best())));
    return gain.interval.high - gain.interval.low <= 2 * kTight * gain.ratio;
  }

  Status record() { return samples_.record(bench_, artifacts_.size()); }

  std::size_t rounds() const { return result_.rounds.size(); }
  FinalistRounds take() { return std::move(result_); }

 private:
  Context& context_;
  DispatchBench& bench_;
  std::vector<provider::Artifact> artifacts_;  // by column
  FinalistSamples samples_{{}};
  FinalistRounds result_;
};

}  // namespace

measure::Protocol finalist_protocol(double seconds_per_launch) {
  measure::Protocol protocol;
  protocol.warm_up_seconds = 0.004;
  protocol.max_warm_up_seconds = 0.02;
  protocol.min_samples = seconds_per_launch > kLongKernelSeconds ? 1 : 3;
  protocol.max_samples = protocol.min_samples;
  protocol.early_stop_factor = 0;
  return protocol;
}

nlohmann::json finalist_round_constants(bool gpu) {
  nlohmann::json constants{{"fewest", kFewestRounds},
                           {"most", kMostRounds},
                           {"looks", kLooks},
                           {"alpha", ties_at_each_look().alpha},
                           {"tight", kTight}};
  if (gpu) constants["max_warm_up_seconds"] = kGpuWarmUpSeconds;
  return constants;
}

FinalistSamples::FinalistSamples(std::vector<std::string> identities)
    : identities_(std::move(identities)), samples_(identities_.size()) {}

Status FinalistSamples::add(const measure::MeasureResult& round) {
  std::vector<double> row;
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    const measure::HandleSamples& taken = round.handles[c];
    if (taken.seconds.empty()) return failure("a finalist gave no sample");
    row.push_back(measure::median(taken.seconds));
    measure::HandleSamples& all = samples_[c];
    all.launches_per_sample = taken.launches_per_sample;
    all.disturbed += taken.disturbed;
    all.kept_disturbed = all.kept_disturbed || taken.kept_disturbed;
    all.seconds.insert(all.seconds.end(), taken.seconds.begin(), taken.seconds.end());
    all.stop = taken.stop;
  }
  rounds_.push_back(std::move(row));
  if (rounds_.size() == 1) {
    machine_.before = round.before;
    machine_.after = round.after;
  } else {
    device::MachineState after = round.after;
    device::add_gpus(after, machine_.after);
    machine_.after = std::move(after);
  }
  return {};
}

Status FinalistSamples::record(DispatchBench& bench, std::size_t columns) const {
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> ratios;
    for (const std::vector<double>& row : rounds_) ratios.push_back(row[c] / row.back());
    HONE_TRY(bench.record_samples(identities_[c], samples_[c], store::Phase::kFinalist,
                                  measure::median(ratios), machine_));
  }
  return {};
}

std::vector<double> FinalistRounds::times(std::size_t column) const {
  std::vector<double> times;
  for (const std::vector<double>& row : rounds) times.push_back(row[column]);
  return times;
}

Result<FinalistRounds> measure_finalists(Context& context, DispatchBench& bench,
                                         const std::vector<store::Id>& finalists, double seconds,
                                         const std::function<void(double)>& progress) {
  const Stopwatch watch;
  const auto left = [&] { return seconds - watch.seconds(); };
  FinalistMeasurement measurement(context, bench);
  HONE_TRY(measurement.enter(finalists));
  bool decided = false;
  for (std::size_t next_look = kFewestRounds; !decided && next_look <= kMostRounds;
       next_look *= 2) {
    while (measurement.rounds() < next_look &&
           (left() > 0 || measurement.rounds() < kFewestRounds)) {
      progress(left());
      Status measured = measurement.measure_round();
      // A runner that died by accident is another one the second time.
      if (!measured && measured.error().kind == ErrorKind::kFailure)
        measured = measurement.measure_round();
      HONE_TRY(measured);
    }
    HONE_ASSIGN(decided, measurement.look());
    if (left() <= 0) break;
  }
  HONE_TRY(measurement.record());
  return measurement.take();
}

}  // namespace hone::tune
