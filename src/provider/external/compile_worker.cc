#include "provider/external/compile_worker.h"

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "provider/external/dispatch_form.h"
#include "provider/external/ptx_entry.h"
#include "provider/ptx_kernel.h"
#include "provider/resources.h"

namespace hone::external {
namespace {

using provider::Message;
using provider::Outcome;

constexpr std::string_view kTarget = "--target=", kShared = "--shared=";
// What the driver launches at most, on every GPU since compute capability 2.0 (CUDA C++ Programming
// Guide, "Compute Capabilities").
constexpr space::Value kMostThreads = 1024, kMostGrid = 2147483647, kMostGridBehind = 65535;

Outcome failed(const Error& error) {
  return tl::unexpected(provider::Failure{provider::FailureKind::kCompileError, error.message});
}

// One configuration of the kernel for one dispatch.
class Candidate {
 public:
  Candidate(const ExternalKernel& kernel, const DispatchForm& form, std::string target,
            space::Value shared_bytes)
      : kernel_(kernel), form_(form), target_(std::move(target)), shared_bytes_(shared_bytes) {
    names_.emplace("shared_bytes", shared_bytes);
    for (const auto& [name, size] : form.sizes) give(name, size);
    for (const auto& [knob, value] : kernel.defaults) give(knob, value);
  }

  void give(const std::string& name, space::Value value) {
    values_[name] = value;
    names_.insert_or_assign(name, value);
  }

  Result<Message> compile() const {
    const Stopwatch watch;
    HONE_ASSIGN(const problem::Launch launch, launched());
    HONE_ASSIGN(const std::string ptx, made());
    HONE_TRY(check_target(ptx, target_));
    HONE_ASSIGN(const std::string function, filled(kernel_.function.text));
    std::vector<Argument> arguments;
    for (const auto& argument : kernel_.arguments) {
      const auto operand = form_.operands.find(argument.text);
      if (operand != form_.operands.end()) {
        arguments.emplace_back(operand->second);
        continue;
      }
      HONE_ASSIGN(const space::Value value, value_of("arguments", argument));
      arguments.emplace_back(value);
    }
    HONE_ASSIGN(std::string fitted,
                with_launch(ptx, function, launch.entry, arguments, form_.bindings, form_.constants,
                            std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2]));
    Message answer{"done", nlohmann::json::object(), {std::move(fitted)}};
    answer.body["format"] = provider::kCudaPtx;
    answer.body["launch"] = launch;
    answer.body["stages"] = {{"configure", 0}, {"translate", watch.seconds()}, {"serialize", 0}};
    return answer;
  }

 private:
  Result<space::Value> value_of(const std::string& what,
                                const provider::KernelManifest::Text& text) const {
    HONE_ASSIGN(const space::Expression expression, space::parse_expression(text.text, names_));
    const auto value = space::evaluate(expression, {});
    if (!value)
      return failure("{}:{}: {}: '{}' has no value here", kernel_.manifest, text.line, what,
                     text.text);
    return *value;
  }

  Result<std::string> filled(const std::string& text, const std::string& object = {}) const {
    return filled_in(text, [&](const std::string& name) -> std::optional<std::string> {
      if (name == "source") return std::filesystem::absolute(kernel_.source).string();
      if (name == "object") return object;
      if (name == "target") return target_;
      const auto value = values_.find(name);
      return value == values_.end() ? std::nullopt : std::optional(std::to_string(value->second));
    });
  }

  // `into`: three extents; those that are not given stay 1.
  Status extents(const std::string& what,
                 const std::vector<provider::KernelManifest::Text>& expressions,
                 const std::array<space::Value, 3>& most,
                 std::array<std::uint32_t, 3>& into) const {
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      HONE_ASSIGN(const space::Value value, value_of(what, expressions[i]));
      if (value < 1 || value > most[i])
        return failure("{}:{}: {}: '{}' is {}; it must be from 1 to {}", kernel_.manifest,
                       expressions[i].line, what, expressions[i].text, value, most[i]);
      into[i] = static_cast<std::uint32_t>(value);
    }
    return {};
  }

  Result<problem::Launch> launched() const {
    problem::Launch launch;
    launch.entry = provider::symbol_in_code(form_.entry);
    launch.constants.resize(static_cast<std::size_t>(form_.constants));
    HONE_TRY(
        extents("grid", kernel_.grid, {kMostGrid, kMostGridBehind, kMostGridBehind}, launch.grid));
    HONE_TRY(
        extents("block", kernel_.block, {kMostThreads, kMostThreads, kMostThreads}, launch.block));
    const space::Value threads = space::Value{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads > kMostThreads)
      return failure("{}: block has {} threads; at most {} can be launched", kernel_.manifest,
                     threads, kMostThreads);
    if (kernel_.shared_memory) {
      HONE_ASSIGN(const space::Value bytes, value_of("shared_memory", *kernel_.shared_memory));
      if (bytes < 0 || bytes > shared_bytes_)
        return failure("{}:{}: shared_memory: {} bytes; a workgroup may have {}", kernel_.manifest,
                       kernel_.shared_memory->line, bytes, shared_bytes_);
      launch.shared_bytes = static_cast<std::uint32_t>(bytes);
    }
    return launch;
  }

  // The PTX, by the build command where there is one.
  Result<std::string> made() const {
    if (kernel_.build.empty()) return read_file(kernel_.object.string());
    const std::filesystem::path object = std::filesystem::temp_directory_path() / "kernel.ptx";
    Command command;
    command.folder = std::filesystem::absolute(kernel_.source).parent_path();
    for (const auto& word : kernel_.build) {
      HONE_ASSIGN(std::string argument, filled(word.text, object.string()));
      command.arguments.push_back(std::move(argument));
    }
    HONE_ASSIGN(const ProcessResult built, run_process(command));
    if (!built.succeeded())
      return failure("{}: {}\n{}{}", fmt::join(command.arguments, " "), describe(built, {}),
                     built.standard_output.text(), built.standard_error.text());
    auto ptx = read_file(object.string());
    if (!ptx)
      return failure("{}: it left no {{object}}: {}", fmt::join(command.arguments, " "),
                     ptx.error().message);
    std::error_code ignored;
    std::filesystem::remove(object, ignored);
    return ptx;
  }

  const ExternalKernel& kernel_;
  const DispatchForm& form_;
  std::string target_;
  space::Value shared_bytes_;
  std::map<std::string, space::Value> values_;
  space::Names names_;
};

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
    Result<DispatchForm> form = form_of(kernel_, job.blobs.at(0));
    if (!form) return failed(form.error());
    form_ = *std::move(form);
    return Message{"done", nlohmann::json::object(), {}};
  }

  Outcome run(const Message& job) override {
    // Results are kept by what was read when hone began.
    if (const std::string content = job.body.at("content"); content != kernel_.content)
      return failed({ErrorKind::kFailure, "the manifest or its file has changed meanwhile"});
    Candidate candidate(kernel_, form_, target_, shared_bytes_);
    for (const auto& [knob, value] : job.body.at("knobs").items())
      candidate.give(knob, value.get<space::Value>());
    Result<Message> compiled = candidate.compile();
    if (!compiled) return failed(compiled.error());
    compiled->body["configured"] = job.body.at("knobs").dump();
    return *std::move(compiled);
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
