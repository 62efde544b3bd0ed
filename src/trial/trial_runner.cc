#include "trial/trial_runner.h"

#include <algorithm>
#include <utility>

#include "measure/verification.h"
#include "trial/records.h"

namespace hone::trial {

namespace {

// Largest ratio to the default's time at which missing code is compiled again. Finalists are faster
// than the default; the rest is a margin for ratios that noise in the search made larger. Slower
// candidates are never run again.
constexpr double kWorthCompilingAgain = 1.2;

}  // namespace

Status TrialRunner::recall(Trial& trial) {
  HONE_ASSIGN(const store::KnownResults known,
              services_.store.known(trial.candidate, services_.device, store::Phase::kSearch,
                                    services_.reuse));
  trial.state = TrialState::kProposed;
  trial.failure.reset();
  trial.timing.reset();
  trial.ratio.reset();
  trial.identity = known.artifact ? known.artifact->identity : "";
  if (known.failure && !trial.ignore_stored_failure &&
      still_holds(*known.failure, services_.store.current_run(), services_.retry_failed)) {
    HONE_ASSIGN(const provider::FailureKind kind, provider::failure_kind_from(known.failure->kind));
    trial.fail({kind, known.failure->message});
    return {};
  }
  // Verifications by other rules do not count: the code is verified and measured again. The same
  // holds after a failure that no longer applies, since it came after all other results.
  const bool verified = !known.failure && known.verification &&
                        known.verification->rules == measure::kVerificationRules &&
                        (!only_this_reference_ || known.verification->reference == reference_);
  if (steps_.verify && verified && !known.verification->right) {
    trial.fail({provider::FailureKind::kWrong, known.verification->basis});
    return {};
  }
  const bool measured = steps_.measure && (verified || !steps_.verify) && known.measurement &&
                        (known.measurement->sentinel_ratio || !steps_.beside_default);
  // Code that is gone (store gc, store rescue), or that somebody else compiled, is compiled again
  // if it may still be run.
  const bool ends_here = measured || (verified && steps_.verify && !steps_.measure);
  const bool may_be_run = !ends_here || (measured && steps_.beside_default &&
                                         *known.measurement->sentinel_ratio < kWorthCompilingAgain);
  if (known.artifact && may_be_run) {
    // Code that was compiled for another candidate (Reuse::kAny) must not be loaded for this one.
    bool can_load = known.artifact->has_code && known.artifact->candidate == trial.candidate;
    if (can_load && services_.trust != store::Trust::kAnyone) {
      HONE_ASSIGN(can_load, services_.store.is_own(trial.candidate));
    }
    if (!can_load) {
      trial.identity.clear();
      return {};
    }
  }
  if (measured) {
    trial.ratio = known.measurement->sentinel_ratio;
    trial.timing = known.measurement->timing;
    trial.state = TrialState::kMeasured;
  } else if (verified && steps_.verify) {
    trial.state = TrialState::kVerified;
  } else if (known.artifact) {
    trial.state = TrialState::kCompiled;
  }
  return {};
}

Status TrialRunner::begin(const Trials& trials) {
  for (Trial* const trial : trials)
    if (is_compiling(trial->candidate))
      trial->state = TrialState::kCompiling;
    else
      HONE_TRY(recall(*trial));
  Trials mine;
  HONE_TRY(services_.store.transaction([&]() -> Status {
    for (Trial* const trial : trials) {
      if (trial->state != TrialState::kProposed) continue;
      HONE_ASSIGN(const bool is_mine, claim(*trial, Work::kCompile));
      if (is_mine) mine.push_back(trial);
    }
    return {};
  }));
  if (!mine.empty()) HONE_TRY(prepare_server(mine));
  for (Trial* const trial : mine) {
    trial->state = TrialState::kCompiling;
    if (is_compiling(trial->candidate)) continue;  // proposed twice
    HONE_ASSIGN(const worker::JobId job, services_.compiler.submit(key_, trial->payload));
    compiling_[job] = trial->candidate;
  }
  return {};
}

// Prepares the server only when the first candidate needs a compile. A program has hundreds of
// dispatches, and the store may know all candidates of one.
Status TrialRunner::prepare_server(const Trials& trials) {
  if (!server_) return {};
  const Status prepared = services_.compiler.prepare(*server_);
  if (prepared) {
    server_.reset();
    return {};
  }
  for (const Trial* trial : trials) HONE_TRY(give_back(*trial, Work::kCompile));
  return prepared;
}

DispatchToPrepare TrialRunner::take_server() {
  return *std::exchange(server_, {});
}

bool TrialRunner::is_compiling(store::Id candidate) const {
  return std::ranges::any_of(compiling_,
                             [candidate](const auto& job) { return job.second == candidate; });
}

Status TrialRunner::finish_compiling(const Trials& trials, double patience) {
  const Stopwatch watch(services_.clock);
  while (std::ranges::any_of(
      trials, [this](const Trial* trial) { return is_compiling(trial->candidate); })) {
    const double left = patience < 0 ? -1 : std::max(0.0, patience - watch.seconds());
    HONE_ASSIGN(const std::size_t finished, wait_for_compiles(left));
    if (finished == 0 && patience >= 0) break;
    if (finished == 0) return failure("the compile workers lost a job of '{}'", key_);
  }
  for (Trial* const trial : trials) {
    const auto compiled = compiled_.find(trial->candidate);
    if (compiled != compiled_.end()) {
      trial->state = compiled->second.state;
      trial->identity = compiled->second.identity;
      trial->failure = compiled->second.failure;
      compiled_.erase(compiled);
    } else if (trial->state == TrialState::kCompiling && !is_compiling(trial->candidate)) {
      HONE_TRY(recall(*trial));  // another trial of the same candidate has taken it
    }
  }
  return {};
}

// Writes all finished candidates in one transaction, which on some file systems costs more than the
// rows. It also does so if the session is told to stop meanwhile.
Result<std::size_t> TrialRunner::wait_for_compiles(double seconds) {
  std::optional<TimeBudget::Span> span;
  if (services_.time != nullptr) span.emplace(*services_.time, Activity::kWait);
  HONE_ASSIGN(std::optional<CompiledCandidate> next,
              services_.compiler.next_finished(key_, seconds));
  std::vector<CompiledCandidate> finished;
  Status status;
  while (next) {
    finished.push_back(std::move(*next));
    auto another = services_.compiler.next_finished(key_, 0);
    if (!another) status = tl::unexpected(another.error());
    next = another ? std::move(*another) : std::nullopt;
  }
  HONE_TRY(services_.store.transaction([&]() -> Status {
    for (const CompiledCandidate& each : finished) HONE_TRY(take_compiled(each));
    return {};
  }));
  HONE_TRY(status);
  return finished.size();
}

// A job that is not in `compiling_` belongs to a cancelled search.
Result<bool> TrialRunner::take_compiled(const CompiledCandidate& finished) {
  const auto job = compiling_.find(finished.id);
  if (job == compiling_.end()) return false;
  Trial trial;
  trial.candidate = job->second;
  compiling_.erase(job);
  ++compiles_;
  compile_seconds_ += finished.seconds;
  if (services_.time != nullptr) services_.time->add(finished, trial.candidate);
  HONE_ASSIGN(const bool mine, still_claims(trial, Work::kCompile));
  if (mine) {
    std::optional<provider::Failure> failed;
    if (!finished.artifact)
      failed = finished.artifact.error();
    else if (check_)
      failed = check_(*finished.artifact);
    if (failed) {
      HONE_TRY(fail(trial, *failed, finished.seconds));
    } else {
      const store::ArtifactRow row =
          artifact_row(trial.candidate, *finished.artifact, finished.seconds);
      HONE_TRY(services_.store.record(row));
      trial.identity = row.identity;
      trial.state = TrialState::kCompiled;
    }
  }
  compiled_[trial.candidate] = trial;
  if (mine) HONE_TRY(give_back(trial, Work::kCompile));
  return true;
}

Status TrialRunner::cancel_compiles() {
  if (compiling_.empty()) return {};
  HONE_TRY(services_.compiler.cancel(key_));
  for (const auto& [job, candidate] : compiling_) {
    Trial trial;
    trial.candidate = candidate;
    HONE_TRY(give_back(trial, Work::kCompile));
  }
  compiling_.clear();
  return {};
}

std::string TrialRunner::key_of(const Trial& trial, Work work) const {
  return work == Work::kCompile
             ? compile_key(trial.candidate)
             : measure_key(dispatch_, services_.device.value_or(0), trial.identity);
}

Result<bool> TrialRunner::claim(Trial& trial, Work work) {
  const std::string key = key_of(trial, work);
  if (services_.leases != nullptr) {
    HONE_ASSIGN(const bool taken, services_.leases->take(key));
    if (!taken) trial.state = TrialState::kLeasedByOther;
    if (!taken) return false;
  }
  // Reads the store after taking the lease, to see what another tuner did before it released the
  // lease.
  HONE_TRY(recall(trial));
  const bool is_needed =
      work == Work::kCompile ? trial.state == TrialState::kProposed : !trial.is_done();
  if (!is_needed && services_.leases != nullptr) HONE_TRY(services_.leases->give_back(key));
  return is_needed;
}

Result<bool> TrialRunner::still_claims(Trial& trial, Work work) {
  if (services_.leases == nullptr) return true;
  HONE_ASSIGN(const bool held, services_.leases->is_held(key_of(trial, work)));
  if (!held) trial.state = TrialState::kLeasedByOther;
  return held;
}

Status TrialRunner::give_back(const Trial& trial, Work work) {
  return services_.leases == nullptr ? Status() : services_.leases->give_back(key_of(trial, work));
}

Status TrialRunner::verify(KernelRunner& runner, Trial& trial, RunnerKernel& kernel) {
  const Stopwatch watch;
  HONE_ASSIGN(const KernelResult<measure::Verification> verified, runner.verify(kernel));
  if (!verified) return fail(trial, verified.error(), watch.seconds());
  measure::Verification verification = *verified;
  if (!verification.right && trial.suspicions)
    if (const auto suspicions = trial.suspicions(); !suspicions.empty()) {
      HONE_ASSIGN(const std::string mistake, runner.find_mistake(kernel, suspicions));
      if (!mistake.empty()) verification.message += "; " + mistake;
    }
  HONE_TRY(record_verification(trial.identity, verification));
  if (verification.right) {
    trial.state = TrialState::kVerified;
    return {};
  }
  trial.fail({provider::FailureKind::kWrong, verification.message});
  return runner.unload(kernel);
}

Result<provider::Artifact> TrialRunner::artifact(store::Id candidate) {
  HONE_ASSIGN(const store::ArtifactRow row,
              services_.store.load_artifact(candidate, services_.trust));
  return artifact_from(row);
}

Status TrialRunner::record_verification(const std::string& identity,
                                        const measure::Verification& verification) {
  store::VerificationRow row = verification_row(verification, bindings_);
  row.dispatch = dispatch_;
  row.identity = identity;
  row.device = *services_.device;
  row.reference = reference_;
  return services_.store.record(row).map([](store::Id) {});
}

Status TrialRunner::record_samples(const std::string& identity,
                                   const measure::HandleSamples& samples, store::Phase phase,
                                   std::optional<double> ratio,
                                   const measure::MeasureResult& result) {
  store::Measurement row =
      measurement_row(dispatch_, identity, *services_.device, services_.cores, samples, result);
  row.phase = phase;
  row.sentinel_ratio = ratio;
  return services_.store.record(row).map([](store::Id) {});
}

Status TrialRunner::fail(Trial& trial, const provider::Failure& failure, double seconds) {
  trial.fail(failure);
  store::FailureRow row;
  row.candidate = trial.candidate;
  if (!trial.identity.empty()) row.device = services_.device;
  row.identity = trial.identity;
  row.kind = provider::name_of(failure.kind);
  row.message = failure.message;
  row.seconds = seconds;
  return services_.store.record(row).map([](store::Id) {});
}

}  // namespace hone::trial
