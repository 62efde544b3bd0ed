#include "measure/runner_jobs.h"

namespace hone::measure {
namespace {

Status expect_problem(Runner& runner, const ProblemRequest& request) {
  runner.expect_problem(request);
  return {};
}

Result<int> found_mistake(Runner& runner, const MistakeRequest& request) {
  return runner.find_mistake(request.handle, request.suspicions);
}

}  // namespace

provider::Outcome handle(Runner& runner, Message message) {
  static const provider::ServedJob<Runner> kServed[] = {
      {jobs::kSetProblem, &Runner::set_problem},
      {jobs::kExpectProblem, expect_problem},
      {jobs::kLoad, &Runner::load},
      {jobs::kBaselines, &Runner::load_baselines},
      {jobs::kVerify, &Runner::verify},
      {jobs::kRepeat, &Runner::repeat},
      {jobs::kAccuracies, &Runner::accuracies},
      {jobs::kFindMistake, found_mistake},
      {jobs::kOutputs, &Runner::outputs},
      {jobs::kMeasure, &Runner::measure},
      {jobs::kUnload, &Runner::unload},
      {jobs::kCalibrate, &Runner::calibrate},
      {jobs::kPeak, &Runner::peak},
  };
  return provider::answer_by<Runner>(kServed, runner, std::move(message),
                                     provider::FailureKind::kLoadError);
}

}  // namespace hone::measure
