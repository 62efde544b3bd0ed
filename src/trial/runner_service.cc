#include "trial/runner_service.h"

#include <algorithm>
#include <utility>

#include "base/decode_json.h"
#include "measure/runner_jobs.h"
#include "provider/retry.h"

namespace hone::trial {
namespace {

// Computing a large reference on one core takes seconds.
constexpr double kProblemSeconds = 600;
constexpr double kPeakSeconds = 60;

provider::Failure cannot_be_read(const Error& error) {
  return {provider::FailureKind::kKernelCrash, "the runner's answer " + error.message};
}

// A candidate may have written over the memory that the answer is made from.
template <class T>
KernelResult<T> answer_of(worker::Outcome& outcome) {
  if (!outcome) return tl::unexpected(std::move(outcome).error());
  Result<T> answer = decode_json<T>(outcome->body);
  if (!answer) return tl::unexpected(cannot_be_read(answer.error()));
  return std::move(*answer);
}

// Whether the samples are those of the handles asked for, in their order, the sentinel last.
bool answers(const measure::MeasureRequest& request, const measure::MeasureResult& result) {
  std::vector<int> asked = request.handles;
  if (request.sentinel && std::ranges::find(asked, *request.sentinel) == asked.end())
    asked.push_back(*request.sentinel);
  return std::ranges::equal(asked, result.handles, {}, {}, &measure::HandleSamples::handle);
}

}  // namespace

// Whatever the runner says, the device was not busy for longer than the call took.
template <class T>
KernelResult<T> RunnerService::count_busy(KernelResult<T> answer,
                                          std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  if (answer && answer->busy_seconds > 0)
    busy_seconds_ += std::min(answer->busy_seconds, passed.count());
  return answer;
}

Result<worker::Outcome> RunnerService::send_problem() {
  const worker::Message message{"set_problem", measure::problem_body(*problem_),
                                measure::problem_blobs(*problem_)};
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

Result<worker::Outcome> RunnerService::ask_device(const worker::Message& message) {
  for (int tries = 1;; ++tries) {
    HONE_ASSIGN(worker::Outcome outcome, call(message, kPeakSeconds));
    if (outcome ||
        !provider::is_tried_again(provider::Attempt::kDevice, outcome.error().kind, tries))
      return outcome;
  }
}

Result<measure::ProblemReady> RunnerService::set_problem(const measure::ProblemRequest& request) {
  problem_ = request;
  problem_->dispatch.source.clear();
  HONE_ASSIGN(worker::Outcome outcome, send_problem());
  KernelResult<measure::ProblemReady> ready = answer_of<measure::ProblemReady>(outcome);
  if (!ready) return failure("{}", ready.error().message);
  return *ready;
}

// One that was expected before may have to be waited for.
Status RunnerService::expect_problem(const measure::ProblemRequest& request) {
  measure::ProblemRequest expected = request;
  expected.dispatch.source.clear();
  HONE_TRY(
      call({"expect_problem", measure::problem_body(expected), measure::problem_blobs(expected)},
           kProblemSeconds));
  return {};
}

Result<KernelResult<int>> RunnerService::load(const provider::Artifact& artifact) {
  HONE_TRY(runner_->ensure_ready());
  HONE_ASSIGN(worker::Outcome outcome,
              call({"load", {{"artifact", measure::artifact_facts(artifact)}}, {artifact.code}},
                   kernel_seconds_));
  if (!outcome) {
    // The runner reports what it cannot load as it reports any failed job.
    provider::Failure failed = std::move(outcome).error();
    if (failed.kind == provider::FailureKind::kCompileError)
      failed.kind = provider::FailureKind::kLoadError;
    return KernelResult<int>(tl::unexpected(std::move(failed)));
  }
  const Result<int> handle = decode_json<int>(outcome->body, "handle");
  if (!handle) return KernelResult<int>(tl::unexpected(cannot_be_read(handle.error())));
  return KernelResult<int>(*handle);
}

Result<KernelResult<measure::Verification>> RunnerService::verify(int handle) {
  const auto begin = std::chrono::steady_clock::now();
  HONE_ASSIGN(worker::Outcome outcome, call({"verify", {{"handle", handle}}, {}}, kernel_seconds_));
  return count_busy(answer_of<measure::Verification>(outcome), begin);
}

Result<KernelResult<measure::Repeated>> RunnerService::repeat(
    const measure::RepeatRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  HONE_ASSIGN(worker::Outcome outcome,
              call({"repeat", request, {}}, request.max_seconds + kernel_seconds_));
  KernelResult<measure::Repeated> repeated = answer_of<measure::Repeated>(outcome);
  // For its busy seconds.
  if (repeated) count_busy(KernelResult<measure::Verification>(repeated->verification), begin);
  return repeated;
}

Result<KernelResult<measure::MeasureResult>> RunnerService::measure(
    const measure::MeasureRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  const double handles = static_cast<double>(request.handles.size() + 1);
  const double seconds =
      handles * (request.protocol.max_seconds + request.protocol.max_warm_up_seconds) +
      kernel_seconds_;
  HONE_ASSIGN(worker::Outcome outcome, call({"measure", request, {}}, seconds));
  KernelResult<measure::MeasureResult> result =
      count_busy(answer_of<measure::MeasureResult>(outcome), begin);
  if (result && !answers(request, *result))
    return KernelResult<measure::MeasureResult>(tl::unexpected(
        provider::Failure{provider::FailureKind::kKernelCrash,
                          "the runner's answer is not of the handles it was asked for"}));
  return result;
}

Result<KernelResult<measure::Outputs>> RunnerService::outputs() {
  HONE_ASSIGN(worker::Outcome outcome,
              call({"outputs", nlohmann::json::object(), {}}, kernel_seconds_));
  if (!outcome) return KernelResult<measure::Outputs>(tl::unexpected(std::move(outcome).error()));
  Result<std::vector<int>> bindings = decode_json<std::vector<int>>(outcome->body, "bindings");
  if (bindings && bindings->size() != outcome->blobs.size())
    bindings = failure("has {} blobs for {} bindings", outcome->blobs.size(), bindings->size());
  if (!bindings)
    return KernelResult<measure::Outputs>(tl::unexpected(cannot_be_read(bindings.error())));
  return KernelResult<measure::Outputs>(
      measure::Outputs{std::move(*bindings), std::move(outcome->blobs)});
}

Result<KernelResult<RunnerService::Accuracies>> RunnerService::accuracies(
    const std::vector<int>& handles) {
  HONE_ASSIGN(worker::Outcome outcome,
              call({"accuracies", {{"handles", handles}}, {}}, kernel_seconds_));
  if (!outcome) return KernelResult<Accuracies>(tl::unexpected(std::move(outcome).error()));
  Result<Accuracies> kernels = decode_json<Accuracies>(outcome->body, "kernels");
  if (kernels && kernels->size() != handles.size())
    kernels = failure("has {} kernels of {}", kernels->size(), handles.size());
  if (!kernels) return KernelResult<Accuracies>(tl::unexpected(cannot_be_read(kernels.error())));
  return KernelResult<Accuracies>(std::move(*kernels));
}

Result<KernelResult<std::optional<std::size_t>>> RunnerService::find_mistake(
    int handle, const std::vector<provider::Suspicion>& suspicions) {
  using Place = std::optional<std::size_t>;
  HONE_ASSIGN(worker::Outcome outcome,
              call({"find_mistake", {{"handle", handle}, {"suspicions", suspicions}}, {}},
                   kernel_seconds_));
  if (!outcome) return KernelResult<Place>(tl::unexpected(std::move(outcome).error()));
  const Result<int> found = decode_json<int>(outcome->body, "found");
  if (!found) return KernelResult<Place>(tl::unexpected(cannot_be_read(found.error())));
  const bool is_one = *found >= 0 && static_cast<std::size_t>(*found) < suspicions.size();
  return KernelResult<Place>(is_one ? Place(static_cast<std::size_t>(*found)) : std::nullopt);
}

Status RunnerService::unload(int handle) {
  HONE_TRY(call({"unload", {{"handle", handle}}, {}}, kernel_seconds_));
  return {};
}

Result<KernelResult<std::vector<measure::Baseline>>> RunnerService::load_baselines() {
  using Baselines = std::vector<measure::Baseline>;
  HONE_ASSIGN(worker::Outcome outcome,
              call({"baselines", nlohmann::json::object(), {}}, kernel_seconds_));
  if (!outcome) return KernelResult<Baselines>(tl::unexpected(std::move(outcome).error()));
  Result<Baselines> baselines = decode_json<Baselines>(outcome->body, "baselines");
  if (!baselines) return KernelResult<Baselines>(tl::unexpected(cannot_be_read(baselines.error())));
  return KernelResult<Baselines>(std::move(*baselines));
}

Result<measure::Calibration> RunnerService::calibrate(const device::Address& device) {
  measure::CalibrationRequest request;
  request.device = device;
  HONE_ASSIGN(worker::Outcome outcome, ask_device({"calibrate", request, {}}));
  const KernelResult<measure::Calibration> calibration = answer_of<measure::Calibration>(outcome);
  if (!calibration) return failure("{}", calibration.error().message);
  return *calibration;
}

Result<device::Peak> RunnerService::peak() {
  HONE_ASSIGN(worker::Outcome outcome, ask_device({"peak", nlohmann::json::object(), {}}));
  const KernelResult<device::Peak> peak = answer_of<device::Peak>(outcome);
  if (!peak) return failure("{}", peak.error().message);
  return *peak;
}

}  // namespace hone::trial
