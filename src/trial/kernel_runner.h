// Kernels on a runner's device: loaded where they have to be, verified, and timed beside one
// another.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "trial/runner_service.h"
#include "trial/time_budget.h"

namespace hone::trial {

// Code that the runner is to run, or a kernel that a library has there.
struct RunnerKernel {
  std::optional<provider::Artifact> code;  // none: only its library can load it
  std::optional<int> handle = {};          // once it is loaded, in the runner `generation`
  std::uint64_t generation = 0;
};

// Calls of the runner by kernel. A kernel is loaded where it has to be, again in a runner that took
// a dead one's place. What is tried again says provider/retry.h; any
// other failure is the kernel's own. For one thread.
class KernelRunner {
 public:
  // Runs a call of the runner, which is of this activity: for who counts time, or lets go of a
  // lock.
  using Around = std::function<void(Activity activity, const std::function<void()>& call)>;

  explicit KernelRunner(RunnerService& runner) : KernelRunner(runner, run_plainly) {}
  KernelRunner(RunnerService& runner, Around around)
      : runner_(&runner), around_(std::move(around)) {}

  Result<KernelResult<measure::Verification>> verify(RunnerKernel& kernel);
  // Launches it again, as often as there is time for, and compares each time.
  Result<KernelResult<measure::Repeated>> compare(RunnerKernel& kernel, int launches,
                                                  double max_seconds);
  // By kernel the accuracy of its float outputs, of a problem whose dispatch has a statement.
  Result<KernelResult<measure::Accuracies>> accuracies(const std::vector<RunnerKernel*>& kernels);
  // Says which mistake the kernel makes; empty where it is none of these, or the kernel fails
  // meanwhile.
  Result<std::string> find_mistake(RunnerKernel& kernel,
                                   const std::vector<provider::Suspicion>& suspicions);
  // Interleaved, as `how` says, whose handles are filled in: samples in the order of `kernels`, the
  // sentinel's last. A failure is that of one of them, and does not say of which.
  Result<KernelResult<measure::MeasureResult>> measure(const std::vector<RunnerKernel*>& kernels,
                                                       RunnerKernel* sentinel,
                                                       measure::MeasureRequest how);
  // So that it is loaded anew, elsewhere, when it runs next. Nothing for one that is not loaded.
  Status unload(RunnerKernel& kernel);

 private:
  static void run_plainly(Activity, const std::function<void()>& call) { call(); }
  template <class Call>
  std::invoke_result_t<Call> ask(Activity activity, const Call& call);
  template <class Call>
  std::invoke_result_t<Call> with(const std::vector<RunnerKernel*>& kernels, Activity activity,
                                  const Call& call);
  bool is_loaded(const RunnerKernel& kernel) const;
  // The failure of the first that does not load.
  Result<std::optional<provider::Failure>> load(const std::vector<RunnerKernel*>& kernels);
  Result<std::optional<provider::Failure>> load(RunnerKernel& kernel);

  RunnerService* runner_;
  Around around_;
};

}  // namespace hone::trial
