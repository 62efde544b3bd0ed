#include "provider/external/compile_worker.h"

#include <nlohmann/json.hpp>

#include "base/stopwatch.h"
#include "provider/external/dispatch_form.h"
#include "provider/external/object_launch.h"
#include "provider/external/ptx_entry.h"
#include "provider/ptx_kernel.h"
#include "provider/resources.h"

namespace hone::external {
namespace {

namespace jobs = provider::jobs;
using provider::Failure;
using provider::FailureKind;

constexpr std::string_view kTarget = "--target=", kShared = "--shared=";

Result<jobs::Compiled> compiled(const DispatchForm& form, const Candidate& candidate,
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
  return jobs::Compiled{{std::string(provider::kCudaPtx), std::move(fitted), std::move(launch)},
                        {.translate = watch.seconds()}};
}

class Worker : public provider::CompileWorker {
 public:
  explicit Worker(ExternalKernel kernel) : kernel_(std::move(kernel)) {}

  Status prepare(jobs::PrepareRequest dispatch) override {
    for (const std::string& flag : dispatch.flags) {
      if (flag.starts_with(kTarget)) target_ = flag.substr(kTarget.size());
      if (flag.starts_with(kShared)) shared_bytes_ = std::stoll(flag.substr(kShared.size()));
    }
    HONE_ASSIGN(const problem::Statement stated, problem::read_statement(dispatch.source));
    HONE_ASSIGN(NamedStatement named, named_statement(kernel_, stated));
    form_ = std::move(named.form);
    return {};
  }

  tl::expected<jobs::Compiled, Failure> compile(
      const std::optional<provider::Payload>& payload) override {
    const nlohmann::json told = payload.value_or(provider::Payload()).json;
    // Results are kept by what was read when hone began.
    if (told.at("content").get<std::string>() != kernel_.content)
      return tl::unexpected(
          Failure{FailureKind::kCompileError, "the manifest or its file has changed meanwhile"});
    Candidate candidate(kernel_, form_, target_, shared_bytes_);
    for (const auto& [knob, value] : told.at("knobs").items())
      candidate.give(knob, value.get<space::Value>());
    Result<jobs::Compiled> made = compiled(form_, candidate, target_);
    if (!made) return tl::unexpected(Failure{FailureKind::kCompileError, made.error().message});
    made->artifact.configured = told.at("knobs").dump();
    return *std::move(made);
  }

  provider::Outcome once(provider::Message job) override {
    return tl::unexpected(Failure{FailureKind::kCompileError,
                                  fmt::format("a manifest's kernel has no '{}'", job.kind)});
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
