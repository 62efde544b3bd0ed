#include "tune/dispatch_bench.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/stopwatch.h"
#include "measure/arithmetic_bound.h"
#include "measure/reference.h"
#include "measure/verification.h"
#include "tune/protocols.h"
#include "tune/records.h"

namespace hone::tune {
namespace {

// Above what finalists are chosen from: slower than that a candidate is never run again.
constexpr double kWorthCompilingAgain = 1.2;

Result<provider::Artifact> compile_reference(CompileService& compiler,
                                             const problem::Dispatch& dispatch,
                                             const std::vector<std::string>& flags) {
  const std::string key = problem::fingerprint(dispatch) + "#reference";
  HONE_TRY(compiler.prepare(key, dispatch.source, flags));
  HONE_ASSIGN(CompiledCandidate compiled, compiler.compile(key, std::nullopt));
  if (!compiled.artifact) {  // once more: it may have died by accident
    HONE_ASSIGN(compiled, compiler.compile(key, std::nullopt));
  }
  HONE_TRY(compiler.release(key));
  if (!compiled.artifact)
    return failure("the reference of '{}' does not compile: {}", dispatch.name,
                   compiled.artifact.error().message);
  return std::move(*compiled.artifact);
}

const measure::HandleSamples* samples_of(const measure::MeasureResult& measured, int handle) {
  const auto samples = std::ranges::find(measured.handles, handle, &measure::HandleSamples::handle);
  return samples == measured.handles.end() ? nullptr : &*samples;
}

}  // namespace

Result<DispatchBench> DispatchBench::prepare(Context& context, const problem::Dispatch& dispatch,
                                             const problem::Dispatch* reference) {
  const TimeBudget::Span span(context.time, Activity::kPrepare);
  DispatchBench bench(context, dispatch);
  store::Store& store = context.store;
  HONE_ASSIGN(const store::Id operation, store.intern(operation_row(dispatch.root)));
  HONE_ASSIGN(bench.dispatch_id_, store.intern(dispatch_row(dispatch, operation)));
  bench.key_ = problem::fingerprint(dispatch);
  const device::Place& place = context.options.place();
  HONE_TRY(context.compiler.prepare(bench.key_, dispatch.source, context.flags(),
                                    place.traits.assembles_code ? place.facts.target : "",
                                    dispatch.contraction));

  measure::ProblemRequest problem{dispatch,
                                  place.address,
                                  context.options.seed,
                                  context.options.cache,
                                  context.options.last_level_cache(),
                                  {}};
  if (!measure::has_exact_reference(dispatch)) {
    if (reference == nullptr && !place.traits.runs_on_host)
      return failure("'{}' cannot be verified: compiled for a CPU the program has no such dispatch",
                     dispatch.name);
    // A source says itself what it is compiled for: of an equal one the code would be the same.
    const bool independent = reference != nullptr && reference->source != dispatch.source;
    if (!independent) HONE_TRY(bench.say_no_reference());
    const std::vector<std::string> flags =
        independent ? context.options.reference_flags : context.flags();
    HONE_ASSIGN(problem.reference,
                compile_reference(context.compiler, independent ? *reference : dispatch, flags));
  }
  bench.problem_ = std::move(problem);

  HONE_ASSIGN(bench.default_.candidate,
              store.add_candidate(bench.candidate_row(std::string(store::kDefaultConfiguration))));
  return bench;
}

Status DispatchBench::say_no_reference() {
  reference_ = store::kOwnFlagsReference;
  const std::string note = fmt::format(
      "'{}': no independent compile of it can be had; candidates are compared with the compiler's "
      "own choice under the same flags, and a mistake that both make is not seen",
      name_);
  context_->note_once(note);
  return context_->store.log_event("no independent reference", note);
}

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

Status DispatchBench::set_up() {
  if (!context_->options.traits().compiling_disturbs) HONE_TRY(compile_default());
  {
    const TimeBudget::Span span(context_->time, Activity::kPrepare);
    HONE_TRY(set_problem(*problem_));
    problem_.reset();
    HONE_TRY(learn_least_seconds());
  }
  HONE_TRY(run_default());
  if (default_.failure)
    return failure("the compiler's own configuration of '{}' fails ({}): {}", name_,
                   provider::name_of(default_.failure->kind), default_.failure->message);
  return {};
}

// The device is asked once in a session, and only where its peak bounds something.
Status DispatchBench::learn_least_seconds() {
  const bool matrix_units = context_->options.traits().matrix_units;
  device::Peak any;
  any.gflops = any.stated_matrix_gflops = 1;
  if (measure::most_flops(root_, any, matrix_units) == 0) return {};
  if (!context_->peak) {
    const Result<device::Peak> peak = lanes_.front().runner->peak();
    if (!peak && peak.error().kind != ErrorKind::kFailure) return tl::unexpected(peak.error());
    context_->peak = peak.value_or(device::Peak{});
  }
  least_seconds_ = measure::least_seconds(root_, *context_->peak, matrix_units);
  return {};
}

double DispatchBench::seconds_at_peak() const {
  return context_->peak ? measure::seconds_at_peak(root_, *context_->peak,
                                                   context_->options.traits().matrix_units)
                        : 0;
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

Status DispatchBench::fail(store::Id candidate, const provider::Failure& failure) {
  Trial trial;
  trial.candidate = candidate;
  HONE_ASSIGN(const provider::Artifact code, artifact(candidate));
  trial.identity = provider::identity(code);
  return fail(trial, failure, true, 0);
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

Status DispatchBench::run(std::vector<Trial>& trials) {
  HONE_TRY(begin(trials));
  return finish(trials);
}

Status DispatchBench::finish(std::vector<Trial>& trials, double patience) {
  HONE_TRY(wait_for_compiles(trials, patience));
  return measure(trials);
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
    if (trial.candidate == default_.candidate) default_seconds_ = known.measurement->timing.median;
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

// Of several devices the first one's time is the session's.
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
  HONE_TRY(record_verification(trial.identity, *verified));
  if (verified->right) return {};
  trial.failure = {provider::FailureKind::kWrong, verified->message};
  return rounds.unload(kernel);
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
  store::Measurement row;
  row.dispatch = dispatch_id_;
  row.identity = identity;
  row.device = context_->device;
  row.phase = phase;
  row.timing = timing_of(samples.seconds, samples.launches_per_sample, samples.disturbed);
  row.sentinel_ratio = ratio;
  row.machine = nlohmann::json{{"before", result.before},
                               {"after", result.after},
                               {"cores", context_->options.place().address.cores},
                               {"stop", samples.stop},
                               {"kept_disturbed", samples.kept_disturbed}}
                    .dump();
  HONE_TRY(context_->store.record(row));
  return {};
}

Status DispatchBench::record_rounds(const RoundSamples& samples, std::size_t columns) {
  for (std::size_t c = 0; c < columns; ++c)
    HONE_TRY(record_samples(samples.identity(c), samples.samples(c), store::Phase::kFinalist,
                            samples.ratio(c), samples.machine()));
  return {};
}

}  // namespace hone::tune
