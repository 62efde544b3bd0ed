#include "provider/external/compile_worker.h"

#include <nlohmann/json.hpp>

#include "base/stopwatch.h"
#include "provider/external/candidate.h"
#include "provider/external/dispatch_form.h"
#include "provider/external/ptx_entry.h"
#include "provider/ptx_kernel.h"
#include "provider/resources.h"

namespace hone::external {
namespace {

using provider::Message;
using provider::Outcome;

constexpr std::string_view kTarget = "--target=", kShared = "--shared=";
Outcome failed(const Error& error) {
  return tl::unexpected(provider::Failure{provider::FailureKind::kCompileError, error.message});
}

Result<Message> compiled(const DispatchForm& form, const Candidate& candidate,
                         const std::string& target) {
  const Stopwatch watch;
  HONE_ASSIGN(problem::Launch launch, candidate.launched());
  launch.entry = provider::symbol_in_code(form.entry);
  launch.constants.resize(static_cast<std::size_t>(form.constants));
  HONE_ASSIGN(const std::string ptx, candidate.made());
  HONE_TRY(check_target(ptx, target));
  HONE_ASSIGN(const std::string function, candidate.function());
  HONE_ASSIGN(const std::vector<Argument> arguments, candidate.arguments(form));
  for (const Argument& argument : arguments)
    if (const auto* const scratch = std::get_if<Scratch>(&argument);
        scratch != nullptr && launch.own_memory.empty())
      launch.own_memory.push_back({scratch_variable(launch.entry), scratch->bytes});
  HONE_ASSIGN(std::string fitted,
              with_launch(ptx, function, launch.entry, arguments, form.bindings, form.constants,
                          std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2]));
  Message answer{"done", nlohmann::json::object(), {std::move(fitted)}};
  answer.body["format"] = provider::kCudaPtx;
  answer.body["launch"] = launch;
  answer.body["stages"] = {{"configure", 0}, {"translate", watch.seconds()}, {"serialize", 0}};
  return answer;
}

class Worker : public provider::CompileWorker {
 public:
  explicit Worker(ExternalKernel kernel) : kernel_(std::move(kernel)) {}

  Outcome once(const Message& job) override {
    return failed({ErrorKind::kFailure, fmt::format("a manifest's kernel has no '{}'", job.kind)});
  }

  Outcome prepare(const Message& job) override {
    for (const std::string flag : job.body.at("flags")) {
      if (flag.starts_with(kTarget)) target_ = flag.substr(kTarget.size());
      if (flag.starts_with(kShared)) shared_bytes_ = std::stoll(flag.substr(kShared.size()));
    }
    const Result<problem::Statement> stated = problem::read_statement(job.blobs.at(0));
    if (!stated) return failed(stated.error());
    Result<NamedStatement> named = named_statement(kernel_, *stated);
    if (!named) return failed(named.error());
    form_ = std::move(named->form);
    return Message{"done", nlohmann::json::object(), {}};
  }

  Outcome run(const Message& job) override {
    // Results are kept by what was read when hone began.
    if (const std::string content = job.body.at("content"); content != kernel_.content)
      return failed({ErrorKind::kFailure, "the manifest or its file has changed meanwhile"});
    Candidate candidate(kernel_, form_, target_, shared_bytes_);
    for (const auto& [knob, value] : job.body.at("knobs").items())
      candidate.give(knob, value.get<space::Value>());
    Result<Message> answer = compiled(form_, candidate, target_);
    if (!answer) return failed(answer.error());
    answer->body["configured"] = job.body.at("knobs").dump();
    return *std::move(answer);
  }

 private:
  ExternalKernel kernel_;
  std::string target_;
  space::Value shared_bytes_ = 0;
  DispatchForm form_;
};

}  // namespace

Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(const std::string& manifest) {
  HONE_ASSIGN(ExternalKernel kernel, read_external_kernel(manifest));
  return std::make_unique<Worker>(std::move(kernel));
}

std::vector<std::string> worker_flags(const std::string& target, std::int64_t shared_bytes) {
  return {std::string(kTarget) + target, std::string(kShared) + std::to_string(shared_bytes)};
}

}  // namespace hone::external
