#include "tune/runner_service.h"

#include <utility>

#include "measure/runner_jobs.h"

namespace hone::tune {
namespace {

// Computing a large reference on one core takes seconds; a kernel that is legal but pathologically
// slow is cut off by its own limit below.
constexpr double kProblemSeconds = 600;
constexpr double kLoadSeconds = 60;
constexpr double kVerifySeconds = 60;
constexpr double kMeasureSlackSeconds = 60;
constexpr double kPeakSeconds = 60;

template <class T>
Ran<T> answer_of(worker::Outcome& outcome) {
  if (!outcome) return tl::unexpected(std::move(outcome).error());
  return outcome->body.get<T>();
}

}  // namespace

Result<worker::Outcome> RunnerService::send_problem() {
  const worker::Message message{"set_problem", measure::problem_body(*problem_),
                                measure::problem_blobs(*problem_)};
  HONE_ASSIGN(worker::Outcome outcome, process_.call(message, kProblemSeconds));
  problem_generation_ = process_.generation();
  return outcome;
}

Result<worker::Outcome> RunnerService::call(const worker::Message& message, double seconds) {
  HONE_TRY(process_.start());
  if (problem_ && problem_generation_ != process_.generation()) {
    HONE_ASSIGN(const worker::Outcome problem, send_problem());
    if (!problem) return failure("the runner lost its problem: {}", problem.error().message);
  }
  return process_.call(message, seconds);
}

Result<measure::ProblemReady> RunnerService::set_problem(const measure::ProblemRequest& request) {
  HONE_TRY(process_.start());
  problem_ = request;
  problem_->dispatch.source.clear();
  HONE_ASSIGN(worker::Outcome outcome, send_problem());
  if (!outcome) {  // it may have died by accident
    HONE_ASSIGN(outcome, send_problem());
  }
  Ran<measure::ProblemReady> ready = answer_of<measure::ProblemReady>(outcome);
  if (!ready) return failure("{}", ready.error().message);
  return *ready;
}

Result<Ran<int>> RunnerService::load(const provider::Artifact& artifact) {
  HONE_ASSIGN(worker::Outcome outcome,
              call({"load", {{"artifact", measure::artifact_facts(artifact)}}, {artifact.code}},
                   kLoadSeconds));
  if (!outcome) {
    // The runner reports what it cannot load as it reports any failed job.
    provider::Failure failed = std::move(outcome).error();
    if (failed.kind == provider::FailureKind::kCompileError)
      failed.kind = provider::FailureKind::kLoadError;
    return Ran<int>(tl::unexpected(std::move(failed)));
  }
  return Ran<int>(outcome->body.at("handle").get<int>());
}

Result<Ran<measure::Verification>> RunnerService::verify(int handle) {
  HONE_ASSIGN(worker::Outcome outcome, call({"verify", {{"handle", handle}}, {}}, kVerifySeconds));
  return answer_of<measure::Verification>(outcome);
}

Result<Ran<measure::MeasureResult>> RunnerService::measure(const measure::MeasureRequest& request) {
  const double handles = static_cast<double>(request.handles.size() + 1);
  const double seconds =
      handles * (request.protocol.max_seconds + request.protocol.max_warm_up_seconds) +
      kMeasureSlackSeconds;
  HONE_ASSIGN(worker::Outcome outcome, call({"measure", request, {}}, seconds));
  return answer_of<measure::MeasureResult>(outcome);
}

Result<Ran<measure::Outputs>> RunnerService::outputs() {
  HONE_ASSIGN(worker::Outcome outcome,
              call({"outputs", nlohmann::json::object(), {}}, kVerifySeconds));
  if (!outcome) return Ran<measure::Outputs>(tl::unexpected(std::move(outcome).error()));
  return Ran<measure::Outputs>(measure::Outputs{
      outcome->body.at("bindings").get<std::vector<int>>(), std::move(outcome->blobs)});
}

Status RunnerService::unload(int handle) {
  HONE_TRY(call({"unload", {{"handle", handle}}, {}}, kLoadSeconds));
  return {};
}

Result<Ran<measure::OpenBlasReady>> RunnerService::load_openblas() {
  HONE_ASSIGN(worker::Outcome outcome,
              call({"openblas", nlohmann::json::object(), {}}, kLoadSeconds));
  return answer_of<measure::OpenBlasReady>(outcome);
}

Result<measure::Calibration> RunnerService::calibrate(const std::vector<int>& cores) {
  measure::CalibrationRequest request;
  request.cores = cores;
  HONE_ASSIGN(worker::Outcome outcome, call({"calibrate", request, {}}, kPeakSeconds));
  if (!outcome) return failure("{}", outcome.error().message);
  return outcome->body.get<measure::Calibration>();
}

Result<device::Peak> RunnerService::peak() {
  HONE_ASSIGN(worker::Outcome outcome, call({"peak", nlohmann::json::object(), {}}, kPeakSeconds));
  if (!outcome) return failure("{}", outcome.error().message);
  return outcome->body.get<device::Peak>();
}

}  // namespace hone::tune
