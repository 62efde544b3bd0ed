#include "trial/runner_service.h"

#include <utility>

#include "provider/retry.h"

namespace hone::trial {
namespace {

// Computing a large reference on one core takes seconds.
constexpr double kProblemSeconds = 600;
constexpr double kPeakSeconds = 60;

measure::ProblemRequest without_source(measure::ProblemRequest request) {
  request.dispatch.source.clear();
  return request;
}

}  // namespace

provider::Failure cannot_be_read(const Error& error) {
  return {provider::FailureKind::kKernelCrash, "the runner's answer " + error.message};
}

Status answers(const std::vector<int>& handles, const measure::Accuracies& kernels) {
  if (kernels.size() == handles.size()) return {};
  return failure("has {} kernels of {}", kernels.size(), handles.size());
}

// Handles of the kernels in their order, the sentinel's last.
Status answers(const measure::MeasureRequest& request, const measure::MeasureResult& result) {
  std::vector<int> asked = request.handles;
  if (request.sentinel && std::ranges::find(asked, *request.sentinel) == asked.end())
    asked.push_back(*request.sentinel);
  if (std::ranges::equal(asked, result.handles, {}, {}, &measure::HandleSamples::handle)) return {};
  return failure("is not of the handles it was asked for");
}

Result<worker::Outcome> RunnerService::send_problem() {
  const worker::Message message = measure::jobs::kSetProblem.ask(*problem_);
  for (int tries = 1;; ++tries) {
    HONE_TRY(runner_->ensure_ready());
    HONE_ASSIGN(worker::Outcome outcome, runner_->call(message, kProblemSeconds));
    if (!outcome &&
        provider::is_tried_again(provider::Attempt::kProblem, outcome.error().kind, tries))
      continue;
    problem_generation_ = runner_->generation();
    return outcome;
  }
}

Result<worker::Outcome> RunnerService::call(const worker::Message& message, double seconds) {
  HONE_TRY(runner_->start());
  if (problem_ && problem_generation_ != runner_->generation()) {
    HONE_ASSIGN(const worker::Outcome problem, send_problem());
    if (!problem) return failure("the runner lost its problem: {}", problem.error().message);
  }
  return runner_->call(message, seconds);
}

template <class Request, class Answer>
Result<Answer> RunnerService::ask_device(const provider::Job<Request, Answer>& job,
                                         const Request& request) {
  for (int tries = 1;; ++tries) {
    HONE_ASSIGN(KernelResult<Answer> answer, ask_within(kPeakSeconds, job, request));
    if (answer) return std::move(*answer);
    if (!provider::is_tried_again(provider::Attempt::kDevice, answer.error().kind, tries))
      return failure("{}", answer.error().message);
  }
}

Result<measure::ProblemReady> RunnerService::set_problem(const measure::ProblemRequest& request) {
  problem_ = without_source(request);
  HONE_ASSIGN(const worker::Outcome outcome, send_problem());
  if (!outcome) return failure("{}", outcome.error().message);
  return measure::jobs::kSetProblem.answered_in(*outcome).map_error([](const Error& error) {
    return Error{ErrorKind::kFailure, cannot_be_read(error).message};
  });
}

// The runner may first have to finish an earlier expected problem, hence kProblemSeconds.
Status RunnerService::expect_problem(const measure::ProblemRequest& request) {
  HONE_TRY(ask_within(kProblemSeconds, measure::jobs::kExpectProblem, without_source(request)));
  return {};
}

Result<KernelResult<int>> RunnerService::load(const provider::Artifact& artifact) {
  HONE_TRY(runner_->ensure_ready());
  HONE_ASSIGN(KernelResult<int> handle, ask(measure::jobs::kLoad, artifact));
  // The runner reports what it cannot load as it reports any failed job.
  if (!handle && handle.error().kind == provider::FailureKind::kCompileError)
    handle.error().kind = provider::FailureKind::kLoadError;
  return handle;
}

Result<KernelResult<measure::MeasureResult>> RunnerService::measure(
    const measure::MeasureRequest& request) {
  const double handles = static_cast<double>(request.handles.size() + 1);
  return ask(measure::jobs::kMeasure, request,
             handles * (request.protocol.max_seconds + request.protocol.max_warm_up_seconds));
}

Result<measure::Calibration> RunnerService::calibrate(const device::Address& device) {
  measure::CalibrationRequest request;
  request.device = device;
  return ask_device(measure::jobs::kCalibrate, request);
}

Result<device::Peak> RunnerService::peak() {
  return ask_device(measure::jobs::kPeak, {});
}

}  // namespace hone::trial
