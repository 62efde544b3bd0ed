#include "provider/external/compile_worker.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/stopwatch.h"
#include "problem/code_target.h"
#include "provider/code_object_metadata.h"
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

// Machine code is launched as it was made: with the addresses of the dispatch's bindings, in their
// order.
Status check_object(const ExternalKernel& kernel, const std::vector<Argument>& arguments,
                    const std::string& function, const std::string& code,
                    const problem::Launch& launch) {
  const auto at = [&](int line) { return provider::YamlPlace(kernel.manifest, line); };
  if (function != launch.entry)
    return at(kernel.function.line)
        .error(
            "kernel: the function of a code object needs the dispatch's name: write '{{entry}}', "
            "and give {{entry}} to the build");
  if (launch.shared_bytes > 0)
    return at(kernel.shared_memory->line)
        .error(
            "shared_memory: a launch in a program has none on AMD GPUs; give the kernel {} bytes "
            "of fixed size",
            launch.shared_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* const place = std::get_if<OperandPlace>(&arguments[i]);
    if (place == nullptr || *place != OperandPlace{static_cast<int>(i), 0, {}})
      return at(kernel.arguments[i].line)
          .error(
              "arguments: '{}' is not binding {} of the dispatch: a code object gets all of them "
              "in order, and numbers from its build; hone spec external passes others",
              kernel.arguments[i].text, i);
  }
  const auto kernels = provider::code_object_kernels(code);
  const auto said = std::ranges::find(kernels, function, &provider::CodeObjectKernel::name);
  if (said == kernels.end())
    return at(kernel.function.line).error("kernel: the object has no '{}'", function);
  const auto addresses =
      std::ranges::count(said->arguments, true, &provider::CodeObjectKernel::Argument::address);
  if (said->arguments.size() != arguments.size() || !std::cmp_equal(addresses, arguments.size()))
    return at(kernel.arguments.front().line)
        .error("arguments: they are {} addresses, and the object's kernel lists {} of {} arguments",
               arguments.size(), addresses, said->arguments.size());
  return {};
}

Result<jobs::Compiled> compiled(const ExternalKernel& kernel, const DispatchForm& form,
                                const Candidate& candidate, const std::string& target) {
  const Stopwatch watch;
  HONE_ASSIGN(problem::Launch launch, candidate.launched());
  launch.entry = provider::symbol_in_code(form.entry);
  launch.constants.resize(static_cast<std::size_t>(form.constants));
  HONE_ASSIGN(std::string code, candidate.made());
  HONE_ASSIGN(const std::string function, candidate.function());
  HONE_ASSIGN(const std::vector<Argument> arguments, candidate.arguments(form));
  const auto done = [&](std::string_view format) {
    return jobs::Compiled{{std::string(format), std::move(code), std::move(launch)},
                          {.translate = watch.seconds()}};
  };
  if (problem::code_target(code)) {
    if (kernel.processor) {
      HONE_ASSIGN(code, problem::for_processor(code, kernel.processor->text));
    }
    HONE_TRY(problem::check_code_target(code, target));
    HONE_TRY(check_object(kernel, arguments, function, code, launch));
    return done(provider::kRocmHsaco);
  }
  HONE_TRY(check_target(code, target));
  for (const Argument& argument : arguments)
    if (const auto* const scratch = std::get_if<Scratch>(&argument);
        scratch != nullptr && launch.own_memory.empty())
      launch.own_memory.push_back({scratch_variable(launch.entry), scratch->bytes});
  HONE_ASSIGN(code,
              with_launch(code, function, launch.entry, arguments, form.bindings, form.constants,
                          std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2]));
  return done(provider::kCudaPtx);
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
    Result<jobs::Compiled> made = compiled(kernel_, form_, candidate, target_);
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
