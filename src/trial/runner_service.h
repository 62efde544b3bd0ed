// Running candidates, as the tuner sees it: typed calls to the runner process.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "measure/accuracy.h"
#include "measure/calibration.h"
#include "measure/repeated_verification.h"
#include "measure/runner_requests.h"
#include "provider/artifact.h"
#include "worker/runner_process.h"

namespace hone::trial {

// What a job on the runner gives: an answer, or how the candidate failed.
template <class T>
using KernelResult = tl::expected<T, provider::Failure>;

// For one thread. When a candidate takes the runner down, the next call starts a new one and gives
// it the problem again; handles of the old one are then gone, which generation() shows.
class RunnerService {
 public:
  // `kernel_seconds`: how long loading or verifying a candidate may take, and measuring it beyond
  // the time of its samples; then the runner is killed and the candidate is a kernel timeout.
  explicit RunnerService(std::unique_ptr<worker::RunnerTransport> runner,
                         double kernel_seconds = 60)
      : runner_(std::move(runner)), kernel_seconds_(kernel_seconds) {}
  explicit RunnerService(worker::RunnerProcess process, double kernel_seconds = 60)
      : RunnerService(std::make_unique<worker::RunnerProcess>(std::move(process)), kernel_seconds) {
  }

  // Sets the problem for all that follows. An error when the runner cannot be started or the
  // reference cannot be computed.
  Result<measure::ProblemReady> set_problem(const measure::ProblemRequest& request);

  // Has the runner begin with what set_problem() of an equal request will need. That it does not
  // is no error: then that takes its time.
  Status expect_problem(const measure::ProblemRequest& request);

  Result<KernelResult<int>> load(const provider::Artifact& artifact);
  Result<KernelResult<measure::Verification>> verify(int handle);
  // Compares further launches of it, each as verify() does.
  Result<KernelResult<measure::Repeated>> repeat(const measure::RepeatRequest& request);
  // By handle the accuracy of its float outputs, of a problem whose dispatch has a statement.
  using Accuracies = std::vector<std::vector<measure::OutputAccuracy>>;
  Result<KernelResult<Accuracies>> accuracies(const std::vector<int>& handles);
  // The place of the mistake that a kernel makes; none where it is not among them.
  Result<KernelResult<std::optional<std::size_t>>> find_mistake(
      int handle, const std::vector<provider::Suspicion>& suspicions);
  // What the kernel that was verified last left in the bindings it writes.
  Result<KernelResult<measure::Outputs>> outputs();
  Result<KernelResult<measure::MeasureResult>> measure(const measure::MeasureRequest& request);
  Status unload(int handle);
  // What vendors' libraries make of the problem; a failure's message says why there is none.
  Result<KernelResult<std::vector<measure::Baseline>>> load_baselines();
  // How quiet the device is. To be asked before the problem is set: a problem of another device
  // would have to be set again.
  Result<measure::Calibration> calibrate(const device::Address& device);
  // Returns the peak of the problem's cores.
  Result<device::Peak> peak();

  // Seconds the device ran kernels that were verified or measured (Device::busy_seconds), as the
  // runners' answers say; what one was at when it died is not in them.
  double busy_seconds() const { return busy_seconds_; }

  // Starts a runner where none lives: generation() then tells which handles it knows.
  Status start() { return runner_->start(); }
  // Changes when the runner that takes a dead one's place is started: handles of the old one are
  // lost.
  std::uint64_t generation() const { return runner_->generation(); }

 private:
  template <class T>
  KernelResult<T> count_busy(KernelResult<T> answer, std::chrono::steady_clock::time_point begin);
  Result<worker::Outcome> call(const worker::Message& message, double seconds);
  Result<worker::Outcome> ask_device(const worker::Message& message);
  Result<worker::Outcome> send_problem();

  std::unique_ptr<worker::RunnerTransport> runner_;
  double kernel_seconds_;
  double busy_seconds_ = 0;
  std::optional<measure::ProblemRequest> problem_;
  std::uint64_t problem_generation_ = 0;  // the runner that has problem_
};

}  // namespace hone::trial
