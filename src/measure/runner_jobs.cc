#include "measure/runner_jobs.h"

namespace hone::measure {
namespace {

using Answer = Result<std::pair<nlohmann::json, Blobs>>;

Answer answer(nlohmann::json body) {
  return std::make_pair(std::move(body), Blobs{});
}

// The answer to a job that gives a value: its JSON, or the error.
template <class T>
Answer answer_with(const Result<T>& result) {
  if (!result) return tl::unexpected(result.error());
  return answer(nlohmann::json(*result));
}

Result<std::string> first_blob(const Blobs& blobs) {
  if (blobs.empty()) return input_error("the artifact's code is missing from the message");
  return blobs.front();
}

Result<ProblemRequest> problem_from(const nlohmann::json& body, const Blobs& blobs) {
  auto request = body.get<ProblemRequest>();
  const auto inputs = body.value("inputs", std::size_t{0}),
             expected = body.value("expected", std::size_t{0});
  const std::size_t code = request.reference ? 1 : 0;
  if (request.reference) {
    HONE_ASSIGN(request.reference->code, first_blob(blobs));
  }
  if (inputs > blobs.size() || expected > blobs.size() || code + inputs + expected > blobs.size())
    return input_error("the problem's message lacks inputs or expected outputs");
  const auto begin = blobs.begin() + static_cast<std::ptrdiff_t>(code);
  const auto middle = begin + static_cast<std::ptrdiff_t>(inputs);
  request.inputs.assign(begin, middle);
  request.expected.assign(middle, middle + static_cast<std::ptrdiff_t>(expected));
  return request;
}

Answer set_problem(Runner& runner, const nlohmann::json& body, const Blobs& blobs) {
  HONE_ASSIGN(const ProblemRequest request, problem_from(body, blobs));
  return answer_with(runner.set_problem(request));
}

Answer expect_problem(Runner& runner, const nlohmann::json& body, const Blobs& blobs) {
  HONE_ASSIGN(const ProblemRequest request, problem_from(body, blobs));
  runner.expect_problem(request);
  return answer(nlohmann::json::object());
}

Answer outputs(const Runner& runner) {
  HONE_ASSIGN(Outputs outputs, runner.outputs());
  return std::make_pair(nlohmann::json{{"bindings", outputs.bindings}}, std::move(outputs.bytes));
}

Answer accuracies(Runner& runner, const nlohmann::json& body) {
  HONE_ASSIGN(const std::vector<std::vector<OutputAccuracy>> kernels,
              runner.accuracies(body.at("handles").get<std::vector<int>>()));
  return answer({{"kernels", kernels}});
}

Answer find_mistake(Runner& runner, const nlohmann::json& body) {
  HONE_ASSIGN(const int found,
              runner.find_mistake(body.at("handle").get<int>(),
                                  body.at("suspicions").get<std::vector<provider::Suspicion>>()));
  return answer({{"found", found}});
}

Answer load(Runner& runner, const nlohmann::json& body, const Blobs& blobs) {
  HONE_ASSIGN(std::string code, first_blob(blobs));
  HONE_ASSIGN(const int handle, runner.load(artifact_from(body.at("artifact"), std::move(code))));
  return answer({{"handle", handle}});
}

Answer baselines(Runner& runner) {
  HONE_ASSIGN(const std::vector<Baseline> baselines, runner.load_baselines());
  return answer({{"baselines", baselines}});
}

Answer unload(Runner& runner, const nlohmann::json& body) {
  HONE_TRY(runner.unload(body.at("handle").get<int>()));
  return answer(nlohmann::json::object());
}

Answer do_job(Runner& runner, std::string_view kind, const nlohmann::json& body,
              const Blobs& blobs) {
  if (kind == "set_problem") return set_problem(runner, body, blobs);
  if (kind == "expect_problem") return expect_problem(runner, body, blobs);
  if (kind == "load") return load(runner, body, blobs);
  if (kind == "baselines") return baselines(runner);
  if (kind == "verify") return answer_with(runner.verify(body.at("handle").get<int>()));
  if (kind == "repeat") return answer_with(runner.repeat(body.get<RepeatRequest>()));
  if (kind == "accuracies") return accuracies(runner, body);
  if (kind == "find_mistake") return find_mistake(runner, body);
  if (kind == "outputs") return outputs(runner);
  if (kind == "measure") return answer_with(runner.measure(body.get<MeasureRequest>()));
  if (kind == "unload") return unload(runner, body);
  if (kind == "calibrate") return answer_with(runner.calibrate(body.get<CalibrationRequest>()));
  if (kind == "peak") return answer_with(runner.peak());
  return input_error("a runner has no job '{}'", kind);
}

}  // namespace

Answer handle(Runner& runner, std::string_view kind, const nlohmann::json& body,
              const Blobs& blobs) {
  try {
    return do_job(runner, kind, body, blobs);
  } catch (const nlohmann::json::exception& error) {
    return input_error("the body of the job '{}' is not as it must be: {}", kind, error.what());
  }
}

Blobs problem_blobs(const ProblemRequest& request) {
  Blobs blobs;
  if (request.reference) blobs.push_back(request.reference->code);
  blobs.insert(blobs.end(), request.inputs.begin(), request.inputs.end());
  blobs.insert(blobs.end(), request.expected.begin(), request.expected.end());
  return blobs;
}

nlohmann::json problem_body(const ProblemRequest& request) {
  nlohmann::json body = request;
  body["inputs"] = request.inputs.size();
  body["expected"] = request.expected.size();
  return body;
}

nlohmann::json artifact_facts(const provider::Artifact& artifact) {
  return {{"format", artifact.format},
          {"launch", artifact.launch},
          {"configured", artifact.configured}};
}

provider::Artifact artifact_from(const nlohmann::json& facts, std::string code) {
  return {.format = facts.at("format").get<std::string>(),
          .code = std::move(code),
          .launch = facts.at("launch").get<provider::Launch>(),
          .configured = facts.at("configured").get<std::string>()};
}

}  // namespace hone::measure
