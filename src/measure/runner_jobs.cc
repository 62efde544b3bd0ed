#include "measure/runner_jobs.h"

#include <algorithm>

namespace hone::measure {
namespace {

Status expect_problem(Runner& runner, const ProblemRequest& request) {
  runner.expect_problem(request);
  return {};
}

Result<int> find_mistake(Runner& runner, const MistakeRequest& request) {
  return runner.find_mistake(request.handle, request.suspicions);
}

Result<Message> answer_to(Runner& runner, const Message& message) {
  static const provider::ServedJob<Runner> kServed[] = {
      {jobs::kSetProblem, &Runner::set_problem},
      {jobs::kExpectProblem, expect_problem},
      {jobs::kLoad, &Runner::load},
      {jobs::kBaselines, &Runner::load_baselines},
      {jobs::kVerify, &Runner::verify},
      {jobs::kRepeat, &Runner::repeat},
      {jobs::kAccuracies, &Runner::accuracies},
      {jobs::kFindMistake, find_mistake},
      {jobs::kOutputs, &Runner::outputs},
      {jobs::kMeasure, &Runner::measure},
      {jobs::kUnload, &Runner::unload},
      {jobs::kCalibrate, &Runner::calibrate},
      {jobs::kPeak, &Runner::peak},
  };
  const auto* const job =
      std::ranges::find(kServed, message.kind, &provider::ServedJob<Runner>::kind);
  if (job == std::end(kServed)) return input_error("a runner has no job '{}'", message.kind);
  try {
    return job->answer(runner, message);
  } catch (const nlohmann::json::exception& error) {
    return input_error("the body of the job '{}' is not as it must be: {}", message.kind,
                       error.what());
  }
}

}  // namespace

provider::Outcome handle(Runner& runner, const Message& message) {
  return answer_to(runner, message).map_error([](const Error& error) {
    return provider::Failure{provider::FailureKind::kLoadError, error.message};
  });
}

}  // namespace hone::measure
