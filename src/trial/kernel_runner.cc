#include "trial/kernel_runner.h"

#include "provider/retry.h"

namespace hone::trial {

template <class Call>
std::invoke_result_t<Call> KernelRunner::ask(Activity activity, std::size_t kernels,
                                             const Call& call) {
  std::optional<std::invoke_result_t<Call>> answer;
  around_(activity, kernels, [&] { answer.emplace(call()); });
  return std::move(*answer);
}

// An accident ends the runner and loses all that was loaded there. It is loaded again before the
// second try.
template <class Call>
std::invoke_result_t<Call> KernelRunner::with(const std::vector<RunnerKernel*>& kernels,
                                              Activity activity, const Call& call) {
  for (int tries = 1;; ++tries) {
    HONE_ASSIGN(const std::optional<provider::Failure> failed, load(kernels));
    typename std::invoke_result_t<Call>::value_type answer =
        tl::unexpected(failed.value_or(provider::Failure{}));
    if (!failed) {
      HONE_ASSIGN(answer, ask(activity, kernels.size(), call));
    }
    if (answer || !provider::is_tried_again(provider::Attempt::kKernel, answer.error().kind, tries))
      return answer;
  }
}

bool KernelRunner::is_loaded(const RunnerKernel& kernel) const {
  return kernel.handle && kernel.generation == runner_->generation();
}

// Loading a kernel may start another runner if the old one has died unnoticed. The kernels before
// it are then loaded again.
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
              ask(Activity::kLoad, 1, [&] { return runner_->load(*kernel.code); }));
  if (!handle) return Failed(handle.error());
  kernel.handle = *handle;
  kernel.generation = runner_->generation();
  return Failed();
}

Result<KernelResult<measure::Verification>> KernelRunner::verify(RunnerKernel& kernel) {
  return with({&kernel}, Activity::kVerify,
              [&] { return runner_->ask(measure::jobs::kVerify, *kernel.handle); });
}

Result<KernelResult<measure::Repeated>> KernelRunner::compare(RunnerKernel& kernel, int launches,
                                                              double max_seconds) {
  return with({&kernel}, Activity::kVerify, [&] {
    return runner_->ask(
        measure::jobs::kRepeat,
        {.handle = *kernel.handle, .launches = launches, .max_seconds = max_seconds}, max_seconds);
  });
}

Result<KernelResult<measure::Accuracies>> KernelRunner::accuracies(
    const std::vector<RunnerKernel*>& kernels) {
  return with(kernels, Activity::kVerify, [&] {
    std::vector<int> handles;
    for (const RunnerKernel* kernel : kernels) handles.push_back(*kernel->handle);
    return runner_->ask(measure::jobs::kAccuracies, handles);
  });
}

Result<std::string> KernelRunner::find_mistake(RunnerKernel& kernel,
                                               const std::vector<provider::Suspicion>& suspicions) {
  HONE_ASSIGN(const KernelResult<int> found, with({&kernel}, Activity::kVerify, [&] {
                return runner_->ask(measure::jobs::kFindMistake, {*kernel.handle, suspicions});
              }));
  const bool is_one = found && *found >= 0 && static_cast<std::size_t>(*found) < suspicions.size();
  return is_one ? suspicions[static_cast<std::size_t>(*found)].says : "";
}

Result<KernelResult<measure::MeasureResult>> KernelRunner::measure(
    const std::vector<RunnerKernel*>& kernels, RunnerKernel* sentinel,
    measure::MeasureRequest how) {
  std::vector<RunnerKernel*> all = kernels;
  if (sentinel != nullptr) all.push_back(sentinel);
  return with(all, Activity::kMeasure, [&] {
    how.handles.clear();
    for (const RunnerKernel* kernel : kernels) how.handles.push_back(*kernel->handle);
    how.sentinel = sentinel != nullptr ? sentinel->handle : std::nullopt;
    return runner_->measure(how);
  });
}

Status KernelRunner::unload(RunnerKernel& kernel) {
  if (is_loaded(kernel)) HONE_TRY(runner_->ask(measure::jobs::kUnload, *kernel.handle));
  kernel.handle.reset();
  return {};
}

}  // namespace hone::trial
