#include "tune/services/rounds.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "measure/statistics.h"

namespace hone::tune {

template <class T>
Result<Ran<T>> Rounds::ask(Activity activity, const std::function<Result<Ran<T>>()>& call) {
  std::optional<Result<Ran<T>>> answer;
  around_(activity, [&] { answer.emplace(call()); });
  return std::move(*answer);
}

// An accident takes the runner along, and with it what else was loaded there: that is loaded again
// before the second try.
template <class T>
Result<Ran<T>> Rounds::with(const std::vector<RunnerKernel*>& kernels, Activity activity,
                            const std::function<Result<Ran<T>>()>& call) {
  constexpr int kTries = 2;
  for (int tried = 1;; ++tried) {
    HONE_ASSIGN(const std::optional<provider::Failure> failed, load(kernels));
    Ran<T> answer = tl::unexpected(failed.value_or(provider::Failure{}));
    if (!failed) {
      HONE_ASSIGN(answer, ask<T>(activity, call));
    }
    if (answer || tried == kTries || !provider::is_accident(answer.error().kind)) return answer;
  }
}

bool Rounds::is_loaded(const RunnerKernel& kernel) const {
  return kernel.handle && kernel.generation == runner_->generation();
}

// Loading one may start another runner, where the old one has died unnoticed: then those before it
// are loaded again.
Result<std::optional<provider::Failure>> Rounds::load(const std::vector<RunnerKernel*>& kernels) {
  HONE_TRY(runner_->start());
  constexpr int kPasses = 2;
  for (int pass = 0; pass < kPasses; ++pass)
    for (RunnerKernel* kernel : kernels) {
      HONE_ASSIGN(std::optional<provider::Failure> failed, load(*kernel));
      if (failed) return failed;
    }
  return std::optional<provider::Failure>();
}

Result<std::optional<provider::Failure>> Rounds::load(RunnerKernel& kernel) {
  using Failed = std::optional<provider::Failure>;
  if (is_loaded(kernel)) return Failed();
  if (!kernel.code)
    return Failed(provider::Failure{provider::FailureKind::kLoadError,
                                    "it was lost with the runner that its library was in"});
  HONE_ASSIGN(const Ran<int> handle,
              ask<int>(Activity::kLoad, [&] { return runner_->load(*kernel.code); }));
  if (!handle) return Failed(handle.error());
  kernel.handle = *handle;
  kernel.generation = runner_->generation();
  return Failed();
}

Result<Ran<measure::Verification>> Rounds::verify(RunnerKernel& kernel) {
  return with<measure::Verification>({&kernel}, Activity::kVerify,
                                     [&] { return runner_->verify(*kernel.handle); });
}

Result<Ran<measure::Repeated>> Rounds::compare(RunnerKernel& kernel, int launches,
                                               double max_seconds) {
  return with<measure::Repeated>({&kernel}, Activity::kVerify, [&] {
    return runner_->repeat(
        {.handle = *kernel.handle, .launches = launches, .max_seconds = max_seconds});
  });
}

Result<Ran<RunnerService::Accuracies>> Rounds::accuracies(
    const std::vector<RunnerKernel*>& kernels) {
  return with<RunnerService::Accuracies>(kernels, Activity::kVerify, [&] {
    std::vector<int> handles;
    for (const RunnerKernel* kernel : kernels) handles.push_back(*kernel->handle);
    return runner_->accuracies(handles);
  });
}

Result<Ran<std::optional<std::size_t>>> Rounds::find_mistake(
    RunnerKernel& kernel, const std::vector<provider::Suspicion>& suspicions) {
  return with<std::optional<std::size_t>>({&kernel}, Activity::kVerify, [&] {
    return runner_->find_mistake(*kernel.handle, suspicions);
  });
}

Result<Ran<measure::MeasureResult>> Rounds::measure(const std::vector<RunnerKernel*>& kernels,
                                                    RunnerKernel* sentinel,
                                                    measure::MeasureRequest how) {
  std::vector<RunnerKernel*> all = kernels;
  if (sentinel != nullptr) all.push_back(sentinel);
  return with<measure::MeasureResult>(all, Activity::kMeasure, [&] {
    how.handles.clear();
    for (const RunnerKernel* kernel : kernels) how.handles.push_back(*kernel->handle);
    how.sentinel = sentinel != nullptr ? sentinel->handle : std::nullopt;
    return runner_->measure(how);
  });
}

Status Rounds::unload(RunnerKernel& kernel) {
  if (is_loaded(kernel)) HONE_TRY(runner_->unload(*kernel.handle));
  kernel.handle.reset();
  return {};
}

RoundSamples::RoundSamples(std::vector<std::string> identities)
    : identities_(std::move(identities)), samples_(identities_.size()) {}

Status RoundSamples::add(const measure::MeasureResult& round) {
  std::vector<std::size_t> all(samples_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return add(round, all);
}

Status RoundSamples::add(const measure::MeasureResult& round,
                         const std::vector<std::size_t>& columns) {
  std::vector<double> row(samples_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const measure::HandleSamples& taken = round.handles[i];
    if (taken.seconds.empty()) return failure("a kernel gave no sample");
    row[columns[i]] = measure::median(taken.seconds);
    measure::HandleSamples& all = samples_[columns[i]];
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

double RoundSamples::ratio(std::size_t column) const {
  std::vector<double> ratios;
  for (const std::vector<double>& row : rounds_)
    if (!std::isnan(row[column])) ratios.push_back(row[column] / row.back());
  return measure::median(ratios);
}

}  // namespace hone::tune
