// Running candidates, as the tuner sees it: typed calls to the runner process.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>

#include "base/stopwatch.h"
#include "measure/runner.h"
#include "worker/runner_process.h"

namespace hone::trial {

// Result of a job on the runner: an answer, or how the candidate failed.
template <class T>
using KernelResult = tl::expected<T, provider::Failure>;

// A candidate may have written over the memory that the runner's answer is made from.
provider::Failure cannot_be_read(const Error& error);

// Checks that an answer matches its request: the same number of kernels, the same handles. The
// error text continues "the runner's answer".
template <class Request, class Answer>
Status answers(const Request&, const Answer&) {
  return {};
}
Status answers(const std::vector<int>& handles, const measure::Accuracies& kernels);
Status answers(const measure::MeasureRequest& request, const measure::MeasureResult& result);

// Seconds the device ran kernels, by an answer that says so.
template <class Answer>
double busy_seconds_in(const Answer& answer) {
  if constexpr (requires { answer.busy_seconds; })
    return answer.busy_seconds;
  else if constexpr (requires { answer.verification; })
    return answer.verification.busy_seconds;
  else
    return 0;
}

// Typed calls to the runner. For one thread. If a candidate kills the runner, the next call starts
// a new one and gives it the problem again. Handles of the old one are then lost, which
// generation() shows.
class RunnerService {
 public:
  // `kernel_seconds`: time limit for loading or verifying a candidate, and for measuring it beyond
  // the time of its samples. After that the runner is killed and the candidate fails with a kernel
  // timeout.
  explicit RunnerService(std::unique_ptr<worker::RunnerTransport> runner,
                         double kernel_seconds = 60)
      : runner_(std::move(runner)), kernel_seconds_(kernel_seconds) {}
  explicit RunnerService(worker::RunnerProcess process, double kernel_seconds = 60)
      : RunnerService(std::make_unique<worker::RunnerProcess>(std::move(process)), kernel_seconds) {
  }

  // Sets the problem for all later calls. An error if the runner cannot be started or the reference
  // cannot be computed.
  Result<measure::ProblemReady> set_problem(const measure::ProblemRequest& request);

  // Starts the work that set_problem() of an equal request will need, in the background. A failure
  // here is no error: set_problem() then takes that time.
  Status expect_problem(const measure::ProblemRequest& request);

  // Runs a job on the loaded kernels. `seconds`: its time beyond `kernel_seconds`.
  template <class Request, class Answer>
  Result<KernelResult<Answer>> ask(const provider::Job<Request, Answer>& job,
                                   const std::type_identity_t<Request>& request = {},
                                   double seconds = 0) {
    return ask_within(kernel_seconds_ + seconds, job, request);
  }
  Result<KernelResult<int>> load(const provider::Artifact& artifact);
  Result<KernelResult<measure::MeasureResult>> measure(const measure::MeasureRequest& request);
  // Measures how quiet the device is. Call it before the problem is set: a problem of another
  // device would have to be set again.
  Result<measure::Calibration> calibrate(const device::Address& device);
  // Returns the peak of the problem's cores.
  Result<device::Peak> peak();

  // Seconds for which the device ran kernels that were verified or measured (Device::busy_seconds),
  // summed over the runners' answers. Work of a runner that died before its answer is not counted.
  double busy_seconds() const { return busy_seconds_; }

  // Starts a runner if none lives. generation() then tells which handles it knows.
  Status start() { return runner_->start(); }
  // Changes when a dead runner's replacement starts: handles of the old one are lost.
  std::uint64_t generation() const { return runner_->generation(); }

 private:
  template <class Request, class Answer>
  Result<KernelResult<Answer>> ask_within(double seconds, const provider::Job<Request, Answer>& job,
                                          const Request& request);
  template <class Request, class Answer>
  Result<Answer> ask_device(const provider::Job<Request, Answer>& job, const Request& request);
  Result<worker::Outcome> call(const worker::Message& message, double seconds);
  Result<worker::Outcome> send_problem();

  std::unique_ptr<worker::RunnerTransport> runner_;
  double kernel_seconds_;
  double busy_seconds_ = 0;
  std::optional<measure::ProblemRequest> problem_;
  std::uint64_t problem_generation_ = 0;  // the runner that has problem_
};

template <class Request, class Answer>
Result<KernelResult<Answer>> RunnerService::ask_within(double seconds,
                                                       const provider::Job<Request, Answer>& job,
                                                       const Request& request) {
  const Stopwatch watch;
  HONE_ASSIGN(worker::Outcome outcome, call(job.ask(request), seconds));
  if (!outcome) return KernelResult<Answer>(tl::unexpected(std::move(outcome).error()));
  Result<Answer> answer = job.answered_in(*std::move(outcome));
  Status understood = answer ? answers(request, *answer) : tl::unexpected(answer.error());
  if (!understood) return KernelResult<Answer>(tl::unexpected(cannot_be_read(understood.error())));
  // The device cannot be busy for longer than the call took, whatever the runner reports.
  busy_seconds_ += std::clamp(busy_seconds_in(*answer), 0.0, watch.seconds());
  return KernelResult<Answer>(std::move(*answer));
}

}  // namespace hone::trial
