// Kernels on a runner's device: loaded on demand, verified, and timed interleaved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "trial/runner_service.h"
#include "trial/time_budget.h"

namespace hone::trial {

// Code that the runner runs, or a kernel of a library on the runner.
struct RunnerKernel {
  std::optional<provider::Artifact> code;  // none: only its library can load it
  std::optional<int> handle = {};          // once it is loaded, in the runner `generation`
  std::uint64_t generation = 0;
};

// Calls of the runner by kernel. Loads a kernel on demand, and again in a runner that replaces a
// dead one. provider/retry.h decides what is retried; any other failure is the kernel's own. For
// one thread.
class KernelRunner {
 public:
  // Wraps a call of the runner about `kernels` kernels that belongs to `activity`, to count its
  // time or to release a lock.
  using Around = std::function<void(Activity activity, std::size_t kernels,
                                    const std::function<void()>& call)>;

  explicit KernelRunner(RunnerService& runner) : KernelRunner(runner, run_plainly) {}
  KernelRunner(RunnerService& runner, Around around)
      : runner_(&runner), around_(std::move(around)) {}

  Result<KernelResult<measure::Verification>> verify(RunnerKernel& kernel);
  // Launches the kernel repeatedly within the time limit and compares the result each time.
  Result<KernelResult<measure::Repeated>> compare(RunnerKernel& kernel, int launches,
                                                  double max_seconds);
  // Returns the accuracy of each kernel's float outputs. Requires a problem whose dispatch has a
  // statement.
  Result<KernelResult<measure::Accuracies>> accuracies(const std::vector<RunnerKernel*>& kernels);
  // Returns the suspicion that explains the kernel's output; empty if none does, or the kernel
  // fails meanwhile.
  Result<std::string> find_mistake(RunnerKernel& kernel,
                                   const std::vector<provider::Suspicion>& suspicions);
  // Times the kernels interleaved, as `how` says, and fills in its handles. Samples are in the
  // order of `kernels`, the sentinel's last. A failure is that of an unknown one of them.
  Result<KernelResult<measure::MeasureResult>> measure(const std::vector<RunnerKernel*>& kernels,
                                                       RunnerKernel* sentinel,
                                                       measure::MeasureRequest how);
  // Unloads the kernel, so that its next run loads it anew, elsewhere in memory. Does nothing if it
  // is not loaded.
  Status unload(RunnerKernel& kernel);

 private:
  static void run_plainly(Activity, std::size_t, const std::function<void()>& call) { call(); }
  template <class Call>
  std::invoke_result_t<Call> ask(Activity activity, std::size_t kernels, const Call& call);
  template <class Call>
  std::invoke_result_t<Call> with(const std::vector<RunnerKernel*>& kernels, Activity activity,
                                  const Call& call);
  bool is_loaded(const RunnerKernel& kernel) const;
  // Loads the kernels; returns the failure of the first that does not load.
  Result<std::optional<provider::Failure>> load(const std::vector<RunnerKernel*>& kernels);
  Result<std::optional<provider::Failure>> load(RunnerKernel& kernel);

  RunnerService* runner_;
  Around around_;
};

}  // namespace hone::trial
