#include "trial/kernel_runner.h"

#include "provider/retry.h"

namespace hone::trial {

template <class T>
Result<KernelResult<T>> KernelRunner::ask(Activity activity,
                                          const std::function<Result<KernelResult<T>>()>& call) {
  std::optional<Result<KernelResult<T>>> answer;
  around_(activity, [&] { answer.emplace(call()); });
  return std::move(*answer);
}

// An accident takes the runner along, and with it what else was loaded there: that is loaded again
// before the second try.
template <class T>
Result<KernelResult<T>> KernelRunner::with(const std::vector<RunnerKernel*>& kernels,
                                           Activity activity,
                                           const std::function<Result<KernelResult<T>>()>& call) {
  for (int tries = 1;; ++tries) {
    HONE_ASSIGN(const std::optional<provider::Failure> failed, load(kernels));
    KernelResult<T> answer = tl::unexpected(failed.value_or(provider::Failure{}));
    if (!failed) {
      HONE_ASSIGN(answer, ask<T>(activity, call));
    }
    if (answer || !provider::is_tried_again(provider::Attempt::kKernel, answer.error().kind, tries))
      return answer;
  }
}

bool KernelRunner::is_loaded(const RunnerKernel& kernel) const {
  return kernel.handle && kernel.generation == runner_->generation();
}

// Loading one may start another runner, where the old one has died unnoticed: then those before it
// are loaded again.
Result<std::optional<provider::Failure>> KernelRunner::load(
    const std::vector<RunnerKernel*>& kernels) {
  HONE_TRY(runner_->start());
  constexpr int kPasses = 2;
  for (int pass = 0; pass < kPasses; ++pass)
    for (RunnerKernel* kernel : kernels) {
      HONE_ASSIGN(std::optional<provider::Failure> failed, load(*kernel));
      if (failed) return failed;
    }
  return std::optional<provider::Failure>();
}

Result<std::optional<provider::Failure>> KernelRunner::load(RunnerKernel& kernel) {
  using Failed = std::optional<provider::Failure>;
  if (is_loaded(kernel)) return Failed();
  if (!kernel.code)
    return Failed(provider::Failure{provider::FailureKind::kLoadError,
                                    "it was lost with the runner that its library was in"});
  HONE_ASSIGN(const KernelResult<int> handle,
              ask<int>(Activity::kLoad, [&] { return runner_->load(*kernel.code); }));
  if (!handle) return Failed(handle.error());
  kernel.handle = *handle;
  kernel.generation = runner_->generation();
  return Failed();
}

Result<KernelResult<measure::Verification>> KernelRunner::verify(RunnerKernel& kernel) {
  return with<measure::Verification>({&kernel}, Activity::kVerify,
                                     [&] { return runner_->verify(*kernel.handle); });
}

Result<KernelResult<measure::Repeated>> KernelRunner::compare(RunnerKernel& kernel, int launches,
                                                              double max_seconds) {
  return with<measure::Repeated>({&kernel}, Activity::kVerify, [&] {
    return runner_->repeat(
        {.handle = *kernel.handle, .launches = launches, .max_seconds = max_seconds});
  });
}

Result<KernelResult<RunnerService::Accuracies>> KernelRunner::accuracies(
    const std::vector<RunnerKernel*>& kernels) {
  return with<RunnerService::Accuracies>(kernels, Activity::kVerify, [&] {
    std::vector<int> handles;
    for (const RunnerKernel* kernel : kernels) handles.push_back(*kernel->handle);
    return runner_->accuracies(handles);
  });
}

Result<KernelResult<std::optional<std::size_t>>> KernelRunner::find_mistake(
    RunnerKernel& kernel, const std::vector<provider::Suspicion>& suspicions) {
  return with<std::optional<std::size_t>>({&kernel}, Activity::kVerify, [&] {
    return runner_->find_mistake(*kernel.handle, suspicions);
  });
}

Result<KernelResult<measure::MeasureResult>> KernelRunner::measure(
    const std::vector<RunnerKernel*>& kernels, RunnerKernel* sentinel,
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

Status KernelRunner::unload(RunnerKernel& kernel) {
  if (is_loaded(kernel)) HONE_TRY(runner_->unload(*kernel.handle));
  kernel.handle.reset();
  return {};
}

}  // namespace hone::trial
