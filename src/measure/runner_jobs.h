// The runner's jobs, with their names, requests and answers.
#pragma once

#include <vector>

#include "measure/runner.h"
#include "provider/message.h"

namespace hone::measure {

using Accuracies = std::vector<std::vector<OutputAccuracy>>;

namespace jobs {

using provider::Job;
using provider::kBody;
using provider::Nothing;

inline constexpr Job<ProblemRequest, ProblemReady> kSetProblem{"set_problem"};
// Prepares the problem while another problem's kernels run.
inline constexpr Job<ProblemRequest, Nothing> kExpectProblem{"expect_problem"};
inline constexpr Job<provider::Artifact, int> kLoad{"load", "artifact", "handle"};
inline constexpr Job<Nothing, std::vector<Baseline>> kBaselines{"baselines", kBody, "baselines"};
inline constexpr Job<int, Verification> kVerify{"verify", "handle"};
inline constexpr Job<RepeatRequest, Repeated> kRepeat{"repeat"};
inline constexpr Job<std::vector<int>, Accuracies> kAccuracies{"accuracies", "handles", "kernels"};
// The mistake's place in the list; -1: none of them.
inline constexpr Job<MistakeRequest, int> kFindMistake{"find_mistake", kBody, "found"};
// Outputs of the last kVerify.
inline constexpr Job<Nothing, Outputs> kOutputs{"outputs", kBody, "bindings"};
inline constexpr Job<MeasureRequest, MeasureResult> kMeasure{"measure"};
inline constexpr Job<int, Nothing> kUnload{"unload", "handle"};
inline constexpr Job<CalibrationRequest, Calibration> kCalibrate{"calibrate"};
inline constexpr Job<Nothing, device::Peak> kPeak{"peak"};

}  // namespace jobs

// Does a job. A load error for an unknown kind, for a body of another form, and for anything the
// runner cannot do.
provider::Outcome handle(Runner& runner, Message message);

}  // namespace hone::measure
