// Compiling a dispatch's trials, some of it beside what is measured.
#include <algorithm>

#include "base/stopwatch.h"
#include "tune/dispatch_bench.h"
#include "tune/records.h"

namespace hone::tune {

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
  for (const Trial* trial : mine) {
    HONE_TRY(context_->compiler.submit(key_, ++last_job_, trial->payload));
    compiling_[last_job_] = trial->candidate;
  }
  return {};
}

bool DispatchBench::is_compiling(store::Id candidate) const {
  return std::any_of(compiling_.begin(), compiling_.end(),
                     [candidate](const auto& job) { return job.second == candidate; });
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

}  // namespace hone::tune
