// The way of a trial: compiled, perhaps by another tuner on the store; verified; measured beside
// the default, on one device or shared out over several of one kind.
#include "tune/dispatch/dispatch_bench.h"

#include <algorithm>
#include <future>
#include <map>
#include <nlohmann/json.hpp>

#include "base/stopwatch.h"
#include "measure/arithmetic_bound.h"
#include "measure/verification.h"
#include "tune/services/protocols.h"
#include "tune/services/records.h"

namespace hone::tune {
namespace {

// By its time to the default's. Finalists are faster than the default; the rest is room for a ratio
// that a noisy moment of the search made larger. Slower than that a candidate is never run again.
constexpr double kWorthCompilingAgain = 1.2;
// Handles that are measured together: enough to share one sentinel, few enough that a round stays
// short against the drift it is to cancel.
constexpr std::size_t kMeasuredTogether = 8;

const measure::HandleSamples* samples_of(const measure::MeasureResult& measured, int handle) {
  const auto samples = std::ranges::find(measured.handles, handle, &measure::HandleSamples::handle);
  return samples == measured.handles.end() ? nullptr : &*samples;
}

}  // namespace

store::Candidate DispatchBench::candidate_row(std::string configuration) const {
  store::Candidate row;
  row.dispatch = dispatch_id_;
  row.build = context_->build;
  row.provider = context_->provider.name();
  row.configuration = std::move(configuration);
  return row;
}

Status DispatchBench::compile_default() {
  std::vector<Trial> first{default_};
  return begin(first);
}

Status DispatchBench::run(std::vector<Trial>& trials) {
  HONE_TRY(begin(trials));
  return finish(trials);
}

Status DispatchBench::begin(std::vector<Trial>& trials) {
  for (Trial& trial : trials) {
    trial.elsewhere = false;
    if (!is_compiling(trial.candidate)) HONE_TRY(skip_known(trial));
  }
  std::vector<Trial*> mine;
  HONE_TRY(context_->store.together([&]() -> Status {
    for (Trial& trial : trials) {
      if (trial.done() || !trial.identity.empty() || is_compiling(trial.candidate)) continue;
      const std::string key = compile_key(trial.candidate);
      HONE_ASSIGN(const bool taken, claim(trial, key));
      if (taken && !trial.done() && trial.identity.empty())
        mine.push_back(&trial);
      else if (taken)
        HONE_TRY(give_back(key));
    }
    return {};
  }));
  if (!mine.empty()) HONE_TRY(serve(mine));
  for (const Trial* trial : mine) {
    HONE_TRY(context_->compiler.submit(key_, ++last_job_, trial->payload));
    compiling_[last_job_] = trial->candidate;
  }
  return {};
}

// The server is made when the first candidate is to be compiled: where the store knows all of them
// there is none, and a program has hundreds of dispatches.
Status DispatchBench::serve(const std::vector<Trial*>& trials) {
  if (!server_) return {};
  const Status prepared = context_->compiler.prepare(*server_);
  if (prepared) {
    server_.reset();
    return {};
  }
  for (const Trial* trial : trials) HONE_TRY(give_back(compile_key(trial->candidate)));
  return prepared;
}

bool DispatchBench::is_compiling(store::Id candidate) const {
  return std::any_of(compiling_.begin(), compiling_.end(),
                     [candidate](const auto& job) { return job.second == candidate; });
}

Result<bool> DispatchBench::claim(Trial& trial, const std::string& key) {
  if (context_->leases != nullptr) {
    HONE_ASSIGN(const bool taken, context_->leases->take(key));
    trial.elsewhere = !taken;
    if (!taken) return false;
  }
  // After the lease: what another tuner did before it gave the lease back is seen.
  HONE_TRY(skip_known(trial));
  return true;
}

Result<bool> DispatchBench::still_claims(Trial& trial, const std::string& key) {
  if (context_->leases == nullptr) return true;
  HONE_ASSIGN(const bool held, context_->leases->is_held(key));
  trial.elsewhere = !held;
  return held;
}

Status DispatchBench::give_back(const std::string& key) {
  return context_->leases == nullptr ? Status() : context_->leases->give_back(key);
}

std::string DispatchBench::measure_key_of(const Trial& trial) const {
  return measure_key(dispatch_id_, context_->device, trial.identity);
}

Status DispatchBench::skip_known(Trial& trial) {
  HONE_ASSIGN(const store::Known known,
              context_->store.known(trial.candidate, context_->device, store::Phase::kSearch,
                                    context_->options.reuse));
  if (known.artifact) trial.identity = known.artifact->identity;
  const bool failed =
      known.failure && !trial.anew &&
      still_holds(*known.failure, context_->store.current_run(), context_->options.retry_failed);
  // By other rules nothing is known: the code is verified, and measured, again. So it is after a
  // failure that does not hold, which came after whatever else is known.
  const bool verified = !known.failure && known.verification &&
                        known.verification->rules == measure::kVerificationRules;
  if (failed) {
    HONE_ASSIGN(const provider::FailureKind kind, provider::failure_kind_from(known.failure->kind));
    trial.failure = {kind, known.failure->message};
  } else if (verified && !known.verification->right) {
    trial.failure = {provider::FailureKind::kWrong, known.verification->basis};
  } else if (verified && known.measurement) {
    trial.ratio = known.measurement->sentinel_ratio;
    trial.seconds = known.measurement->timing.median;
    if (trial.candidate == default_.candidate) default_seconds_ = trial.seconds;
  }
  // Code that is gone (store gc, store rescue), or that somebody else compiled, is compiled again
  // where it may still be run.
  const bool may_be_run = !trial.failure && trial.ratio.value_or(1) < kWorthCompilingAgain;
  if (known.artifact && may_be_run) {
    HONE_ASSIGN(const bool can_load, may_be_loaded(trial.candidate, *known.artifact));
    if (!can_load) {
      trial.identity.clear();
      trial.ratio.reset();
    }
  }
  if (trial.done()) trial.known = true;
  return {};
}

Result<bool> DispatchBench::may_be_loaded(store::Id candidate, const store::Artifact& artifact) {
  // That of another build (Reuse::kAny) is not this candidate's to load.
  if (!artifact.has_code || artifact.candidate != candidate) return false;
  if (context_->options.trust == store::Trust::kAnyone) return true;
  return context_->store.is_own(candidate);
}

Status DispatchBench::finish(std::vector<Trial>& trials, double patience) {
  HONE_TRY(wait_for_compiles(trials, patience));
  return measure(trials);
}

Status DispatchBench::wait_for_compiles(std::vector<Trial>& trials, double patience) {
  const TimeBudget::Span span(context_->time, Activity::kWait);
  const Stopwatch watch(context_->clock);
  const auto is_awaited = [this](const Trial& trial) { return is_compiling(trial.candidate); };
  while (std::any_of(trials.begin(), trials.end(), is_awaited)) {
    const double left = patience < 0 ? -1 : std::max(0.0, patience - watch.seconds());
    HONE_ASSIGN(const std::size_t finished, take_finished(left));
    if (finished == 0 && patience >= 0) break;
    if (finished == 0) return failure("the compile workers lost a job of '{}'", name_);
  }
  for (Trial& trial : trials) {
    trial.elsewhere = trial.elsewhere || is_compiling(trial.candidate);
    const auto compiled = compiled_.find(trial.candidate);
    if (compiled == compiled_.end()) continue;
    trial.identity = compiled->second.identity;
    trial.failure = compiled->second.failure;
    trial.elsewhere = compiled->second.elsewhere;
    compiled_.erase(compiled);
  }
  return {};
}

Status DispatchBench::wait_for_a_compile(double seconds) {
  const TimeBudget::Span span(context_->time, Activity::kWait);
  return take_finished(seconds).map([](std::size_t) {});
}

// What has finished by then is written in one transaction, which on some file systems costs more
// than the rows; also when the session was told to stop meanwhile.
Result<std::size_t> DispatchBench::take_finished(double seconds) {
  HONE_ASSIGN(std::optional<CompiledCandidate> next, context_->compiler.next_finished(seconds));
  std::vector<CompiledCandidate> finished;
  Status status;
  while (next) {
    finished.push_back(std::move(*next));
    auto another = context_->compiler.next_finished(0);
    if (!another) status = tl::unexpected(another.error());
    next = another ? std::move(*another) : std::nullopt;
  }
  HONE_TRY(context_->store.together([&]() -> Status {
    for (const CompiledCandidate& each : finished) HONE_TRY(take_compiled(each));
    return {};
  }));
  HONE_TRY(status);
  return finished.size();
}

Status DispatchBench::take_compiled(const CompiledCandidate& finished) {
  const auto job = compiling_.find(finished.id);
  if (job == compiling_.end()) return {};  // of a search that was cancelled
  context_->time.add(finished);
  Trial trial;
  trial.candidate = job->second;
  compiling_.erase(job);
  const std::string key = compile_key(trial.candidate);
  HONE_ASSIGN(const bool mine, still_claims(trial, key));
  if (mine) HONE_TRY(record_compiled(context_->store, trial.candidate, finished));
  if (mine && finished.artifact)
    trial.identity = provider::identity(*finished.artifact);
  else if (mine)
    trial.failure = finished.artifact.error();
  compiled_[trial.candidate] = trial;
  return mine ? give_back(key) : Status();
}

Status DispatchBench::cancel_compiles() {
  if (compiling_.empty()) return {};
  HONE_TRY(context_->compiler.cancel_all());
  for (const auto& [job, candidate] : compiling_) HONE_TRY(give_back(compile_key(candidate)));
  compiling_.clear();
  return {};
}

Status DispatchBench::measure(std::vector<Trial>& trials) {
  Queue queue{trials};
  std::vector<std::future<Status>> others;
  // The default is the first to be measured, and what the others compare with.
  const std::size_t lanes = default_seconds_ > 0 ? lanes_.size() : 1;
  for (std::size_t i = 1; i < lanes; ++i)
    others.push_back(std::async(std::launch::async, [&, i] { return work(lanes_[i], queue); }));
  Status status = work(lanes_.front(), queue);
  for (auto& other : others)
    if (Status ended = other.get(); status && !ended) status = std::move(ended);
  HONE_TRY(status);
  for (Trial& trial : trials) {
    if (!trial.done()) HONE_TRY(skip_known(trial));  // shares the code of one just measured
    trial.elsewhere =
        !trial.done() && (trial.elsewhere || queue.elsewhere.count(trial.identity) > 0);
  }
  return {};
}

Status DispatchBench::work(Lane& lane, Queue& queue) {
  Lock lock(*mutex_);
  const auto measure_groups = [&]() -> Status {
    while (!queue.stopped) {
      std::vector<Trial*> group;
      HONE_TRY(context_->store.together([&]() -> Status {
        HONE_ASSIGN(group, next_group(queue));
        return {};
      }));
      if (group.empty()) return {};
      HONE_TRY(measure_together(lane, lock, group));
      HONE_TRY(context_->store.together([&]() -> Status {
        for (const Trial* trial : group) HONE_TRY(give_back(measure_key_of(*trial)));
        return {};
      }));
    }
    return {};
  };
  Status status = measure_groups();
  if (!status) queue.stopped = true;
  return status;
}

// Taken group by group: what is not begun here, another tuner may do.
Result<std::vector<Trial*>> DispatchBench::next_group(Queue& queue) {
  std::vector<Trial*> group;
  const std::size_t share = (queue.trials.size() - queue.next + lanes_.size() - 1) / lanes_.size();
  const std::size_t most = std::clamp<std::size_t>(share, 1, kMeasuredTogether);
  while (queue.next < queue.trials.size() && group.size() < most) {
    Trial& trial = queue.trials[queue.next++];
    if (trial.done() || trial.elsewhere || trial.identity.empty()) continue;
    if (!queue.begun.insert(trial.identity).second) continue;
    // What a compile gave may be code that was measured before, under another configuration; the
    // lease is on the code.
    const std::string key = measure_key_of(trial);
    HONE_ASSIGN(const bool mine, claim(trial, key));
    if (trial.elsewhere) queue.elsewhere.insert(trial.identity);
    if (mine && trial.done()) HONE_TRY(give_back(key));
    if (mine && !trial.done()) group.push_back(&trial);
  }
  return group;
}

Status DispatchBench::measure_together(Lane& lane, Lock& lock, const std::vector<Trial*>& trials) {
  Rounds rounds = rounds_on(lane, lock);
  Kernels kernels;
  for (Trial* trial : trials) {
    HONE_ASSIGN(provider::Artifact code, artifact(trial->candidate));
    RunnerKernel& kernel = kernels[trial] = {std::move(code)};
    HONE_TRY(verify(rounds, *trial, kernel));
    if (trial->done()) kernels.erase(trial);
  }
  if (kernels.empty()) return {};
  const bool is_default = trials.front()->candidate == default_.candidate;
  if (!is_default && !lane.sentinel.code) {
    HONE_ASSIGN(lane.sentinel.code, artifact(default_.candidate));
  }

  std::vector<RunnerKernel*> verified;
  for (auto& [trial, kernel] : kernels) verified.push_back(&kernel);
  measure::MeasureRequest how;
  how.protocol = search_protocol(default_seconds_, context_->options.traits());
  how.seed = context_->options.seed + static_cast<std::uint64_t>(trials.front()->candidate);
  how.best = best_seconds_;
  how.least_seconds = least_seconds_;
  HONE_ASSIGN(const Ran<measure::MeasureResult> measured,
              rounds.measure(verified, is_default ? nullptr : &lane.sentinel, how));
  if (!measured) {
    if (kernels.size() == 1) return fail(*kernels.begin()->first, measured.error(), true, 0);
    // Some candidate of the group is to blame: each shows alone whether it was the one.
    for (auto& [trial, kernel] : kernels) {
      HONE_TRY(rounds.unload(kernel));
      HONE_TRY(measure_together(lane, lock, {trial}));
    }
    return {};
  }
  HONE_TRY(fail_impossible(lane, kernels, *measured));
  HONE_TRY(context_->store.together([&] { return take_measured(lane, kernels, *measured); }));
  for (auto& [trial, kernel] : kernels)
    if (!is_default) HONE_TRY(rounds.unload(kernel));
  return {};
}

// The time budget is of the first device, where there are several.
Rounds DispatchBench::rounds_on(Lane& lane, Lock& lock) {
  return {*lane.runner, [this, &lane, &lock](Activity activity, const std::function<void()>& call) {
            std::optional<TimeBudget::Span> span;
            if (&lane == &lanes_.front()) span.emplace(context_->time, activity);
            lock.unlock();
            call();
            lock.lock();
          }};
}

Status DispatchBench::verify(Rounds& rounds, Trial& trial, RunnerKernel& kernel) {
  const Stopwatch watch;
  HONE_ASSIGN(const Ran<measure::Verification> verified, rounds.verify(kernel));
  if (!verified) return fail(trial, verified.error(), true, watch.seconds());
  measure::Verification verification = *verified;
  if (!verification.right && trial.suspicions)
    HONE_TRY(explain(rounds, trial.suspicions(), kernel, verification.message));
  HONE_TRY(record_verification(trial.identity, verification));
  if (verification.right) return {};
  trial.failure = {provider::FailureKind::kWrong, verification.message};
  return rounds.unload(kernel);
}

// That nothing explains it, or the kernel fails meanwhile, is no failure of more than the
// candidate.
Status DispatchBench::explain(Rounds& rounds, const std::vector<provider::Suspicion>& suspicions,
                              RunnerKernel& kernel, std::string& message) {
  if (suspicions.empty()) return {};
  HONE_ASSIGN(const Ran<std::optional<std::size_t>> found, rounds.find_mistake(kernel, suspicions));
  if (found && *found) message += "; " + suspicions[**found].says;
  return {};
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
      HONE_TRY(fail(*trial, {provider::FailureKind::kImpossibleTime, impossible}, true, 0));
  }
  if (is_default) return {};
  HONE_ASSIGN(const std::string impossible, impossible_time(*lane.runner, measured.handles.back()));
  if (!impossible.empty())
    return failure("the compiler's own configuration of '{}': {}", name_, impossible);
  return {};
}

Result<std::string> DispatchBench::impossible_time(RunnerService& runner,
                                                   const measure::HandleSamples& samples) {
  if (samples.impossible == 0 || samples.seconds.empty()) return std::string();
  const double seconds = *std::min_element(samples.seconds.begin(), samples.seconds.end());
  if (seconds >= least_seconds_) return std::string();  // the peak was measured anew since
  // A peak that was measured while others had the cores is too low.
  HONE_ASSIGN(const device::Peak again, runner.peak());
  device::Peak& peak = *context_->peak;
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
    if (trial->failure) continue;
    const measure::HandleSamples* const samples = samples_of(measured, *kernel.handle);
    if (samples == nullptr || samples->seconds.empty()) continue;
    HONE_ASSIGN(const bool mine, still_claims(*trial, measure_key_of(*trial)));
    if (mine) {
      trial->ratio = is_default ? 1.0 : paired_ratio(*samples, baseline);
      if (!is_default) trial->noise = ratio_noise(*samples, baseline);
      HONE_TRY(
          record_samples(trial->identity, *samples, store::Phase::kSearch, trial->ratio, measured));
    }
    const double seconds = timing_of(samples->seconds).median;
    trial->seconds = seconds;
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
  return record_samples(default_.identity, baseline, store::Phase::kSentinel, 1.0, measured);
}

Status DispatchBench::record_samples(const std::string& identity,
                                     const measure::HandleSamples& samples, store::Phase phase,
                                     std::optional<double> ratio,
                                     const measure::MeasureResult& result) {
  store::Measurement row = measurement_row(dispatch_id_, identity, *context_, samples, result);
  row.phase = phase;
  row.sentinel_ratio = ratio;
  HONE_TRY(context_->store.record(row));
  return {};
}

Status DispatchBench::record_rounds(const RoundSamples& samples, std::size_t columns) {
  for (std::size_t c = 0; c < columns; ++c)
    HONE_TRY(record_samples(samples.identity(c), samples.samples(c), store::Phase::kFinalist,
                            samples.ratio(c), samples.machine()));
  return {};
}

Status DispatchBench::record_verification(const std::string& identity,
                                          const measure::Verification& verification) {
  store::VerificationRow row = verification_row(verification, bindings_);
  row.dispatch = dispatch_id_;
  row.identity = identity;
  row.device = context_->device;
  row.reference = reference_;
  HONE_TRY(context_->store.record(row));
  return {};
}

Status DispatchBench::fail(store::Id candidate, const provider::Failure& failure) {
  Trial trial;
  trial.candidate = candidate;
  HONE_ASSIGN(const provider::Artifact code, artifact(candidate));
  trial.identity = provider::identity(code);
  return fail(trial, failure, true, 0);
}

Status DispatchBench::fail(Trial& trial, const provider::Failure& failure, bool on_device,
                           double seconds) {
  trial.failure = failure;
  store::Failure row;
  row.candidate = trial.candidate;
  if (on_device) {
    row.device = context_->device;
    row.identity = trial.identity;
  }
  row.kind = provider::name_of(failure.kind);
  row.message = failure.message;
  row.seconds = seconds;
  HONE_TRY(context_->store.record(row));
  return {};
}

Result<provider::Artifact> DispatchBench::artifact(store::Id candidate) {
  HONE_ASSIGN(const store::Artifact row,
              context_->store.load_artifact(candidate, context_->options.trust));
  return artifact_from(row);
}

}  // namespace hone::tune
