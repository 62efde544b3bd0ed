// The runner's jobs as messages: a kind, a JSON body and blobs in, a JSON body and blobs out.
// docs: kinds and bodies
//   set_problem    ProblemRequest; blobs as problem_blobs orders them             -> ProblemReady
//   expect_problem likewise: made ready while the other one's kernels run         -> {}
//   load           {"artifact": ArtifactFacts}; blob 0: its code                  -> {"handle": n}
//   baselines      {}                                          -> {"baselines": [Baseline, ..]}
//   verify         {"handle": n}                                                  -> Verification
//   repeat         RepeatRequest                                                  -> Repeated
//   accuracies     {"handles": [n, ..]}                -> {"kernels": [[OutputAccuracy, ..], ..]}
//   find_mistake   {"handle": n, "suspicions": [Suspicion, ..]}           -> {"found": its place or -1}
//   outputs        {}; of the last verify            -> {"bindings": [..]}; their bytes as blobs
//   measure        MeasureRequest                                                 -> MeasureResult
//   unload         {"handle": n}                                                  -> {}
//   calibrate      CalibrationRequest                                             -> Calibration
//   peak           {}                                                             -> Peak
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "measure/runner.h"

namespace hone::measure {

using Blobs = std::vector<std::string>;

// Does one job. An input error for an unknown kind or a body that is not as above.
Result<std::pair<nlohmann::json, Blobs>> handle(Runner& runner, std::string_view kind,
                                                const nlohmann::json& body, const Blobs& blobs);

// The bytes of a problem: the reference's code where there is one, then each input of
// `request.inputs` and each of `request.expected`; and the body, which says how many.
Blobs problem_blobs(const ProblemRequest& request);
nlohmann::json problem_body(const ProblemRequest& request);

// The body of "load": everything of an artifact but its code.
nlohmann::json artifact_facts(const provider::Artifact& artifact);
provider::Artifact artifact_from(const nlohmann::json& facts, std::string code);

}  // namespace hone::measure
