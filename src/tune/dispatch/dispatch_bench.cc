// Takes a trial to its end: compiled, perhaps by another tuner on the store; verified; measured
// beside the default. Measuring runs on one device or on several of one kind.
#include "tune/dispatch/dispatch_bench.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/ranges.h"
#include "base/stopwatch.h"
#include "measure/arithmetic_bound.h"
#include "measure/comparison.h"
#include "measure/verification.h"
#include "plan/policy.h"
#include "trial/protocols.h"
#include "trial/records.h"

namespace hone::tune {
namespace {

using Work = trial::TrialRunner::Work;

const measure::HandleSamples* samples_of(const measure::MeasureResult& measured, int handle) {
  return find_by(measured.handles, handle, &measure::HandleSamples::handle);
}

}  // namespace

store::CandidateRow DispatchBench::candidate_row(std::string configuration) const {
  store::CandidateRow row;
  row.dispatch = dispatch_id();
  row.build = context_->baseline.build;
  row.provider = context_->provider.name();
  row.configuration = std::move(configuration);
  return row;
}

Status DispatchBench::compile_default() {
  return trials_.begin({&default_});
}

Status DispatchBench::run(const Trials& trials) {
  HONE_TRY(trials_.begin(trials));
  return finish(trials);
}

Status DispatchBench::run_to_the_end(const Trials& trials) {
  for (;;) {
    HONE_TRY(run(trials));
    if (std::ranges::none_of(trials, &Trial::is_pending)) return {};
    if (context_->leases != nullptr) HONE_TRY(context_->leases->wait());
  }
}

Status DispatchBench::finish(const Trials& trials, double patience) {
  HONE_TRY(trials_.finish_compiling(trials, patience));
  return measure(trials);
}

Status DispatchBench::measure(const Trials& trials) {
  Queue queue{trials};
  std::vector<std::future<Status>> others;
  // The default is measured first, and is what the others are compared with.
  const std::size_t lanes = default_seconds_ > 0 ? lanes_.size() : 1;
  for (std::size_t i = 1; i < lanes; ++i)
    others.push_back(std::async(std::launch::async, [&, i] { return work(lanes_[i], queue); }));
  Status status = work(lanes_.front(), queue);
  for (auto& other : others)
    if (Status ended = other.get(); status && !ended) status = std::move(ended);
  HONE_TRY(status);
  for (Trial* const trial : trials) {
    if (trial->is_done() || trial->is_pending()) continue;
    const bool is_leased = queue.leased_by_other.contains(trial->identity);
    HONE_TRY(trials_.recall(*trial));  // it may share the code of one just measured
    if (is_leased && !trial->is_done()) trial->state = trial::TrialState::kLeasedByOther;
  }
  return {};
}

Status DispatchBench::work(Lane& lane, Queue& queue) {
  Lock lock(*mutex_);
  const auto measure_groups = [&]() -> Status {
    while (!queue.stopped) {
      Trials group;
      HONE_TRY(context_->store.transaction([&]() -> Status {
        HONE_ASSIGN(group, next_group(queue));
        return {};
      }));
      if (group.empty()) return {};
      HONE_TRY(measure_together(lane, lock, group));
      HONE_TRY(context_->store.transaction([&]() -> Status {
        for (const Trial* trial : group) HONE_TRY(trials_.give_back(*trial, Work::kMeasure));
        return {};
      }));
    }
    return {};
  };
  Status status = measure_groups();
  if (!status) queue.stopped = true;
  return status;
}

// Takes trials group by group: another tuner may take those that are not begun here.
Result<Trials> DispatchBench::next_group(Queue& queue) {
  Trials group;
  const std::size_t share = (queue.trials.size() - queue.next + lanes_.size() - 1) / lanes_.size();
  const std::size_t most = std::clamp<std::size_t>(share, 1, plan::kMeasuredTogether);
  while (queue.next < queue.trials.size() && group.size() < most) {
    Trial& trial = *queue.trials[queue.next++];
    if (trial.state != trial::TrialState::kCompiled && trial.state != trial::TrialState::kVerified)
      continue;
    if (!queue.begun.insert(trial.identity).second) continue;
    // Claims the code, not the configuration: another configuration may have given the same code
    // and been measured.
    HONE_ASSIGN(const bool mine, trials_.claim(trial, Work::kMeasure));
    if (mine) group.push_back(&trial);
    if (trial.is_pending()) queue.leased_by_other.insert(trial.identity);
  }
  return group;
}

Status DispatchBench::measure_together(Lane& lane, Lock& lock, const Trials& trials) {
  // Only the first of several devices counts towards the time budget.
  const bool counts = &lane == &lanes_.front();
  trial::KernelRunner runner(*lane.runner, {counts ? &context_->state->time : nullptr, &lock});
  Kernels kernels;
  for (Trial* trial : trials) {
    HONE_ASSIGN(provider::Artifact code, artifact(trial->candidate));
    kernels[trial] = {std::move(code)};
  }
  std::vector<trial::RunnerKernel*> unverified;
  for (auto& [trial, kernel] : kernels) unverified.push_back(&kernel);
  HONE_TRY(runner.verify_ahead(unverified));
  for (Trial* trial : trials) {
    HONE_TRY(trials_.verify(runner, *trial, kernels[trial]));
    if (trial->is_done()) kernels.erase(trial);
  }
  const bool is_default = trials.front()->candidate == default_.candidate;
  if (!kernels.empty() && !is_default && !lane.sentinel.code) {
    HONE_ASSIGN(lane.sentinel.code, artifact(default_.candidate));
  }
  while (!kernels.empty()) {
    HONE_ASSIGN(const auto failed, time(lane, runner, kernels, *trials.front()));
    if (!failed) break;
    if (!failed->column) {  // each has a round of its own
      for (auto& [trial, kernel] : kernels) {
        HONE_TRY(runner.unload(kernel));
        HONE_TRY(measure_together(lane, lock, {trial}));
      }
      return {};
    }
    const auto to_blame = std::next(kernels.begin(), static_cast<std::ptrdiff_t>(*failed->column));
    HONE_TRY(runner.unload(to_blame->second));
    HONE_TRY(trials_.fail(*to_blame->first, failed->failure));
    kernels.erase(to_blame);
  }
  for (auto& [trial, kernel] : kernels)
    if (!is_default) HONE_TRY(runner.unload(kernel));
  return {};
}

Result<std::optional<trial::FailedColumn>> DispatchBench::time(Lane& lane,
                                                               trial::KernelRunner& runner,
                                                               Kernels& kernels,
                                                               const Trial& first) {
  trial::RoundsRequest request;
  for (auto& [trial, kernel] : kernels) request.kernels.push_back(&kernel);
  if (first.candidate != default_.candidate) request.sentinel = &lane.sentinel;
  request.how.protocol = trial::search_protocol(default_seconds_, context_->options.traits());
  request.how.seed = context_->options.seed + static_cast<std::uint64_t>(first.candidate);
  request.how.best = best_seconds_;
  request.how.least_seconds = least_seconds_;
  request.next = trial::fixed_rounds(1, kernels.size());
  request.take = [&](const trial::Columns&,
                     const measure::MeasureResult& measured) -> Result<bool> {
    HONE_TRY(fail_impossible(lane, kernels, measured));
    HONE_TRY(context_->store.transaction([&] { return take_measured(lane, kernels, measured); }));
    return true;
  };
  return trial::run_rounds(runner, std::move(request));
}

Status DispatchBench::fail_impossible(Lane& lane, const Kernels& kernels,
                                      const measure::MeasureResult& measured) {
  bool is_default = false;
  for (const auto& [trial, kernel] : kernels) {
    is_default = trial->candidate == default_.candidate;
    const measure::HandleSamples* const samples = samples_of(measured, *kernel.handle);
    if (samples == nullptr) continue;
    HONE_ASSIGN(const std::string impossible, impossible_time(*lane.runner, *samples));
    if (!impossible.empty())
      HONE_TRY(trials_.fail(*trial, {provider::FailureKind::kImpossibleTime, impossible}));
  }
  if (is_default) return {};
  HONE_ASSIGN(const std::string impossible, impossible_time(*lane.runner, measured.handles.back()));
  if (!impossible.empty())
    return failure("the compiler's own configuration of '{}': {}", name_, impossible);
  return {};
}

Result<std::string> DispatchBench::impossible_time(trial::RunnerService& runner,
                                                   const measure::HandleSamples& samples) {
  if (samples.impossible == 0 || samples.seconds.empty()) return std::string();
  const double seconds = *std::min_element(samples.seconds.begin(), samples.seconds.end());
  if (seconds >= least_seconds_) return std::string();  // the peak was measured anew since
  // A peak measured while others used the cores is too low.
  HONE_ASSIGN(const device::Peak again, runner.peak());
  device::Peak& peak = *context_->state->peak;
  peak.gflops = std::max(peak.gflops, again.gflops);
  least_seconds_ = measure::least_seconds(root_, peak, context_->options.traits().matrix_units);
  if (seconds >= least_seconds_) return std::string();
  return measure::impossible_time(root_, seconds, least_seconds_);
}

Status DispatchBench::take_measured(Lane& lane, const Kernels& kernels,
                                    const measure::MeasureResult& measured) {
  const measure::HandleSamples& baseline = measured.handles.back();
  bool is_default = false;
  for (const auto& [trial, kernel] : kernels) {
    is_default = trial->candidate == default_.candidate;
    if (trial->is_done()) continue;
    const measure::HandleSamples* const samples = samples_of(measured, *kernel.handle);
    if (samples == nullptr || samples->seconds.empty()) continue;
    trial->timing = trial::timing_of(samples->seconds);
    HONE_ASSIGN(const bool mine, trials_.still_claims(*trial, Work::kMeasure));
    if (mine) {
      trial->ratio = is_default ? 1.0 : measure::paired_ratio(*samples, baseline);
      if (!is_default) trial->noise = measure::ratio_noise(*samples, baseline);
      if (trial->ratio) trial->state = trial::TrialState::kMeasured;
      HONE_TRY(trials_.record_samples(trial->identity, *samples, store::Phase::kSearch,
                                      trial->ratio, measured));
    }
    const double seconds = trial->timing->median;
    best_seconds_ = std::min(best_seconds_.value_or(seconds), seconds);
    if (is_default) {
      lane.sentinel = kernel;
      default_seconds_ = seconds;
    }
  }
  if (lanes_.size() > 1)
    lane.sentinel_seconds.insert(lane.sentinel_seconds.end(), baseline.seconds.begin(),
                                 baseline.seconds.end());
  if (is_default) return {};
  return trials_.record_samples(default_.identity, baseline, store::Phase::kSentinel, 1.0,
                                measured);
}

Status DispatchBench::record_rounds(const measure::RoundSamples& samples, std::size_t columns) {
  for (std::size_t c = 0; c < columns; ++c)
    HONE_TRY(trials_.record_samples(samples.identity(c), samples.samples(c),
                                    store::Phase::kFinalist, samples.ratio(c), samples.machine()));
  return {};
}

Status DispatchBench::record_as_shipped(store::Id candidate,
                                        const std::vector<double>& default_seconds,
                                        const std::vector<double>& seconds) {
  HONE_ASSIGN(const measure::PairedComparison comparison,
              measure::compare_paired(default_seconds, seconds));
  const auto record = [&](store::Id of, const std::vector<double>& samples,
                          double ratio) -> Status {
    HONE_ASSIGN(const provider::Artifact code, artifact(of));
    store::Measurement row;
    row.dispatch = dispatch_id();
    // Uses the candidate's identity, whose tables show the row. On a GPU the code is the same PTX,
    // assembled by the driver.
    row.identity = provider::identity(code);
    row.device = context_->device;
    row.phase = store::Phase::kOwnRuntime;
    row.timing = trial::timing_of(samples);
    row.sentinel_ratio = ratio;
    return context_->store.record(row).map([](store::Id) {});
  };
  HONE_TRY(record(default_.candidate, default_seconds, 1));
  return record(candidate, seconds, comparison.ratio);
}

Status DispatchBench::fail(store::Id candidate, const provider::Failure& failure) {
  Trial trial;
  trial.candidate = candidate;
  HONE_ASSIGN(const provider::Artifact code, artifact(candidate));
  trial.identity = provider::identity(code);
  return trials_.fail(trial, failure);
}

}  // namespace hone::tune
