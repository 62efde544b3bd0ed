#include "tests/tune_fake/taped_seams.h"

#include <algorithm>

#include "base/file.h"
#include "provider/jobs.h"

namespace hone::test {
namespace {

constexpr const char* kCompilers = "compilers";
constexpr const char* kRunner = "runner";
constexpr const char* kPrograms = "programs";

nlohmann::json json_of(const worker::Outcome& outcome) {
  if (!outcome)
    return {{"failure", provider::name_of(outcome.error().kind)},
            {"words", outcome.error().message}};
  return {{"kind", outcome->kind}, {"body", outcome->body}, {"blobs", outcome->blobs}};
}

worker::Outcome outcome_of(const nlohmann::json& json) {
  if (json.contains("failure"))
    return tl::unexpected(provider::Failure{
        provider::failure_kind_from(json.at("failure").get<std::string>()).value(),
        json.at("words").get<std::string>()});
  return worker::Message{json.at("kind"), json.at("body"), json.at("blobs")};
}

// The value that a provider's function gave, or its error.
template <class T, class ToJson>
nlohmann::json json_of(const Result<T>& result, const ToJson& to_json) {
  if (!result)
    return {{"error", static_cast<int>(result.error().kind)}, {"words", result.error().message}};
  return {{"value", to_json(*result)}};
}

Error error_in(const nlohmann::json& json) {
  return {static_cast<ErrorKind>(json.at("error").get<int>()), json.at("words").get<std::string>()};
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string bytes_in(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

worker::Message program_job(std::string kind, const provider::ProgramCall& call) {
  nlohmann::json inputs = nlohmann::json::array();
  for (const auto& input : call.inputs) inputs.push_back(input.string());
  return {std::move(kind),
          {{"module", call.module.string()},
           {"function", call.function.name},
           {"inputs", inputs},
           {"cores", call.device.cores},
           {"runtime_flags", call.runtime_flags},
           {"gpu", call.device.index ? nlohmann::json(*call.device.index) : nlohmann::json()}},
          {}};
}

}  // namespace

nlohmann::json TapedPool::compiled(const worker::Message& job, const worker::Outcome& outcome) {
  nlohmann::json json = json_of(outcome);
  if (!outcome || outcome->blobs.empty()) return json;
  // A frontend IR beside it is left out: recordings compile whole programs.
  if (job.kind == provider::jobs::kLoadProgram) json["blobs"] = nlohmann::json::array();
  const std::string& code = outcome->blobs.front();
  std::string name;
  if (job.kind == provider::jobs::kCompile) name = code_name(outcome->body, code);
  if (job.kind == provider::jobs::kCompileProgram) name = module_name(code);
  if (name.empty()) return json;
  tape_.code[name] = code;
  json["blobs"] = {name};
  return json;
}

Result<worker::Outcome> TapedPool::once(const worker::Message& job) {
  // Without one the whole program is compiled, as the recordings have it.
  if (job.kind == provider::jobs::kFrontendIr)
    return worker::Outcome(worker::Message{"done", nlohmann::json::object(), {}});
  return tape_
      .answer(kCompilers, job,
              [&]() -> Result<nlohmann::json> {
                return real_->once(job).map(
                    [&](const auto& outcome) { return compiled(job, outcome); });
              })
      .map(outcome_of);
}

Result<worker::Outcome> TapedPool::prepare(const std::string& key, const worker::Message& job) {
  return tape_
      .answer(kCompilers, job,
              [&]() -> Result<nlohmann::json> {
                return real_->prepare(key, job).map(
                    [](const auto& outcome) { return json_of(outcome); });
              })
      .map(outcome_of);
}

Status TapedPool::release(const std::string& key) {
  return real_ == nullptr ? Status() : real_->release(key);
}

Status TapedPool::submit(const std::string& key, worker::JobId id, const worker::Message& job) {
  // What it is a candidate of is part of what is asked for.
  worker::Message asked = job;
  asked.body["prepared"] = key;
  HONE_ASSIGN(const nlohmann::json answer,
              tape_.answer(kCompilers, asked, [&]() -> Result<nlohmann::json> {
                HONE_TRY(real_->submit(key, id, job));
                HONE_ASSIGN(const auto finished, real_->next_finished(-1));
                if (!finished) return failure("the compile workers lost a job");
                nlohmann::json json = compiled(job, finished->outcome);
                json["seconds"] = finished->seconds;
                return json;
              }));
  finished_.push_back({id, outcome_of(answer), answer.at("seconds")});
  return {};
}

Result<std::optional<worker::Finished>> TapedPool::next_finished(double) {
  if (finished_.empty()) return std::optional<worker::Finished>();
  std::optional<worker::Finished> next = std::move(finished_.front());
  finished_.pop_front();
  return next;
}

Status TapedRunner::start() {
  if (!std::exchange(lives_, true)) ++generation_;
  return real_ == nullptr ? Status() : real_->ensure_ready();
}

Result<worker::Outcome> TapedRunner::call(const worker::Message& job, double seconds) {
  HONE_TRY(start());
  HONE_ASSIGN(const nlohmann::json answer,
              tape_.answer(kRunner, job, [&]() -> Result<nlohmann::json> {
                worker::Message with_code = job;
                for (std::string& blob : with_code.blobs)
                  if (tape_.code.count(blob) > 0) blob = tape_.code.at(blob);
                const std::uint64_t before = real_->generation();
                HONE_ASSIGN(const worker::Outcome outcome, real_->call(with_code, seconds));
                nlohmann::json json = json_of(outcome);
                HONE_TRY(real_->ensure_ready());
                json["died"] = real_->generation() != before;
                return json;
              }));
  if (answer.at("died").get<bool>()) lives_ = false;
  return outcome_of(answer);
}

// The module that the tuner has written is a name; the runtime gets what it names.
provider::ProgramCall TapedPrograms::real_call(const provider::ProgramCall& call) const {
  provider::ProgramCall real = call;
  const auto found = tape_.code.find(read_file(call.module).value_or(""));
  if (found == tape_.code.end()) return real;
  real.module += ".real";
  (void)write_file_atomically(real.module, found->second);
  return real;
}

Result<provider::ModuleFunctions> TapedPrograms::functions(
    const std::filesystem::path& module) const {
  provider::ProgramCall call;
  call.module = module;
  HONE_ASSIGN(
      const nlohmann::json answer,
      tape_.answer(kPrograms, program_job("functions", call), [&]() -> Result<nlohmann::json> {
        return json_of(provider_.runtime().functions(real_call(call).module),
                       [](const provider::ModuleFunctions& functions) {
                         nlohmann::json json = nlohmann::json::array();
                         for (const problem::Function& each : functions.typed)
                           json.push_back({each.name, each.inputs, each.outputs});
                         return json;
                       });
      }));
  if (answer.contains("error")) return tl::unexpected(error_in(answer));
  provider::ModuleFunctions functions;
  for (const nlohmann::json& each : answer.at("value"))
    functions.typed.push_back({each.at(0), each.at(1), each.at(2)});
  return functions;
}

std::optional<std::string> TapedPrograms::device_code(std::string_view module,
                                                      const std::string& entry) const {
  const worker::Message job{"device_code", {{"entry", entry}}, {std::string(module)}};
  const auto answer = tape_.answer(kPrograms, job, [&]() -> Result<nlohmann::json> {
    const auto code = provider_.device_code(tape_.code.at(std::string(module)), entry);
    return nlohmann::json{{"value", code ? nlohmann::json(ptx_name(*code, entry)) : nullptr}};
  });
  if (!answer || answer->at("value").is_null()) return std::nullopt;
  return answer->at("value").get<std::string>();
}

Result<std::vector<problem::Array>> TapedPrograms::run(const provider::ProgramCall& call,
                                                       std::size_t results) const {
  HONE_ASSIGN(const nlohmann::json answer,
              tape_.answer(kPrograms, program_job("run", call), [&]() -> Result<nlohmann::json> {
                return json_of(
                    runtime_.run ? runtime_.run(call) : provider_.runtime().run(real_call(call), results),
                    [](const std::vector<problem::Array>& arrays) {
                      nlohmann::json json = nlohmann::json::array();
                      for (const problem::Array& array : arrays)
                        json.push_back({{"type", array.type}, {"hex", hex(array.bytes)}});
                      return json;
                    });
              }));
  if (answer.contains("error")) return tl::unexpected(error_in(answer));
  std::vector<problem::Array> arrays;
  for (const nlohmann::json& array : answer.at("value"))
    arrays.push_back({array.at("type"), bytes_in(array.at("hex"))});
  return arrays;
}

Result<double> TapedPrograms::time(const provider::ProgramCall& call, double seconds) const {
  worker::Message job = program_job("time", call);
  job.body["seconds"] = seconds;
  HONE_ASSIGN(
      const nlohmann::json answer, tape_.answer(kPrograms, job, [&]() -> Result<nlohmann::json> {
        return json_of(runtime_.time
                           ? runtime_.time(call)
                           : provider_.runtime().timers(call.device).programs(real_call(call), seconds),
                       [](double value) { return nlohmann::json(value); });
      }));
  if (answer.contains("error")) return tl::unexpected(error_in(answer));
  return answer.at("value").get<double>();
}

Result<double> TapedPrograms::time_artifact(const provider::ArtifactCall& call,
                                            double seconds) const {
  nlohmann::json contents = nlohmann::json::array();
  for (const auto& content : call.contents) contents.push_back(content.string());
  const worker::Message job{"time_artifact",
                            {{"contents", contents},
                             {"types", call.types},
                             {"cores", call.device.cores},
                             {"launches", call.launches},
                             {"launch", call.artifact->launch},
                             {"seconds", seconds}},
                            {call.artifact->code}};
  HONE_ASSIGN(const nlohmann::json answer,
              tape_.answer(kPrograms, job, [&]() -> Result<nlohmann::json> {
                provider::Artifact artifact = *call.artifact;
                artifact.code = tape_.code.at(artifact.code);
                provider::ArtifactCall real = call;
                real.artifact = &artifact;
                return json_of(provider_.runtime().time_artifact(real, seconds),
                               [](double value) { return nlohmann::json(value); });
              }));
  if (answer.contains("error")) return tl::unexpected(error_in(answer));
  return answer.at("value").get<double>();
}

}  // namespace hone::test
