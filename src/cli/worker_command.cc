// What hone starts itself as: the compile workers and the runner.
#include <chrono>

#include "base/process.h"
#include "cli/command.h"
#include "device/cpu/device.h"
#include "device/cuda/leased_devices.h"
#include "device/cuda/ptxas.h"
#include "measure/runner_jobs.h"
#include "provider/iree/constraint_reader.h"
#include "provider/iree/extract_root.h"
#include "provider/iree/library.h"
#include "provider/iree/prepared_dispatch.h"
#include "provider/iree/program.h"
#include "provider/iree/spec_reader.h"
#include "provider/iree/whole_program.h"
#include "provider/resources.h"
#include "tune/compile_jobs.h"
#include "worker/exec_worker.h"
#include "worker/fork_server.h"
#include "worker/runner_process.h"

namespace hone::cli {
namespace {

using provider::Failure;
using provider::FailureKind;
using tune::jobs::ConfiguredDispatch;
using worker::Message;
using worker::Outcome;

Outcome refuse(const Error& error, FailureKind kind = FailureKind::kCompileError) {
  return tl::unexpected(Failure{kind, error.message});
}

// The jobs of the compile workers (tune/compile_jobs.h). Each runs alone in a forked process.
class CompileWorker {
 public:
  explicit CompileWorker(const iree::Library& library) : library_(library) {}

  Outcome once(const Message& message) {
    if (message.kind == tune::jobs::kRevision)
      return Message{"done", {{"revision", library_.revision()}}, {}};
    if (message.kind == tune::jobs::kCanonical) return canonical(message);
    const auto path = message.body.at("path").get<std::string>();
    const auto flags = message.body.at("flags").get<std::vector<std::string>>();
    const std::string& bytes = message.blobs.at(0);
    if (message.kind == tune::jobs::kLoadProgram) {
      const auto program =
          iree::load_program(library_, path, bytes, flags,
                             message.body.at("sizes").get<std::vector<problem::GivenSize>>());
      if (!program) return refuse(program.error());
      return Message{"done", *program, {}};
    }
    if (message.kind == tune::jobs::kCompileProgram) {
      const auto module = iree::compile_program(library_, path, bytes, flags);
      if (!module) return refuse(module.error());
      return Message{"done", nlohmann::json::object(), {*module}};
    }
    if (message.kind == tune::jobs::kExtractRoot) {
      const auto text = iree::extract_root(library_, path, bytes, flags);
      if (!text) return refuse(text.error());
      return Message{"done", nlohmann::json::object(), {*text}};
    }
    if (message.kind == tune::jobs::kConstraints) {
      const auto stated = iree::stated_constraints(library_, path, bytes, flags);
      if (!stated) return refuse(stated.error());
      return Message{"done", {{"statements", *stated}}, {}};
    }
    if (message.kind == tune::jobs::kReadSpec) return read_spec(path, bytes);
    if (message.kind == tune::jobs::kCompileDispatch) {
      const Status compiled = iree::compile_dispatch(library_, path, bytes, flags);
      if (!compiled) return refuse(compiled.error());
      return Message{"done", nlohmann::json::object(), {}};
    }
    if (message.kind == tune::jobs::kConfigured ||
        message.kind == tune::jobs::kConfiguredDispatch) {
      const auto kind = message.kind == tune::jobs::kConfigured ? iree::ModuleKind::kProgram
                                                                : iree::ModuleKind::kDispatch;
      const auto configured = iree::configured_dispatches(library_, path, bytes, flags, kind);
      if (!configured) return refuse(configured.error());
      std::vector<ConfiguredDispatch> dispatches;
      for (const iree::ConfiguredDispatch& dispatch : *configured)
        dispatches.push_back({dispatch.name, dispatch.attributes, dispatch.marks});
      return Message{"done", {{"dispatches", dispatches}}, {}};
    }
    return refuse({ErrorKind::kInput, "unknown job '" + message.kind + "'"});
  }

  Outcome prepare(const Message& message) {
    auto prepared = iree::PreparedDispatch::create(
        library_, message.blobs.at(0), message.body.at("flags").get<std::vector<std::string>>());
    if (!prepared) return refuse(prepared.error());
    prepared_ = std::make_unique<iree::PreparedDispatch>(std::move(*prepared));
    assemble_for_ = message.body.at("assemble_for").get<std::string>();
    if (!assemble_for_.empty()) ptxas_ = device::cuda::find_ptxas().value_or("");
    return Message{"done", nlohmann::json::object(), {}};
  }

  Outcome compile(const Message& message) {
    std::optional<provider::Attributes> attributes;
    if (!message.body.empty()) attributes = message.body.get<provider::Attributes>();
    iree::StageTimes stages;
    auto artifact = prepared_->compile(attributes, &stages);
    if (!artifact) return tl::unexpected(std::move(artifact).error());
    double assembling = 0;
    // The driver would do it too, but one kernel at a time and in the runner.
    if (artifact->format == provider::kCudaPtx && !assemble_for_.empty() && !ptxas_.empty()) {
      const auto begin = std::chrono::steady_clock::now();
      auto assembly = device::cuda::assemble(ptxas_, artifact->code, assemble_for_);
      if (!assembly) return refuse(assembly.error());
      assembling = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      artifact->format = provider::kCudaCubin;
      artifact->code = std::move(assembly->cubin);
    }
    return Message{"done",
                   {{"format", artifact->format},
                    {"launch", artifact->launch},
                    {"configured", artifact->configured},
                    {"translation", artifact->translation},
                    {"decomposition", artifact->decomposition},
                    {"stages",
                     {{"configure", stages.configure},
                      {"translate", stages.translate},
                      {"serialize", stages.serialize},
                      {"assemble", assembling}}}},
                   {std::move(artifact->code)}};
  }

 private:
  Outcome read_spec(const std::string& path, const std::string& bytes) {
    const auto spec = iree::read_spec_file(library_, path, bytes);
    if (!spec) return refuse(spec.error());
    std::vector<tune::jobs::SpecFileEntry> entries;
    for (const iree::SpecFileEntry& entry : spec->entries)
      entries.push_back(
          {entry.matcher, entry.line, {entry.lowering_config, entry.translation_info}});
    return Message{"done", {{"entries", entries}}, {spec->marking}};
  }

  Outcome canonical(const Message& message) {
    std::vector<std::string> attributes;
    for (const auto& text : message.body.at("attributes")) {
      auto canonical = iree::canonical_attribute(library_, text.get<std::string>());
      if (!canonical) return refuse(canonical.error());
      attributes.push_back(std::move(*canonical));
    }
    return Message{"done", {{"attributes", attributes}}, {}};
  }

  const iree::Library& library_;
  std::unique_ptr<iree::PreparedDispatch> prepared_;
  std::string assemble_for_;          // the GPU of the dispatch's candidates
  std::filesystem::path ptxas_ = {};  // empty where there is none
};

CommandResult serve_compiles(const std::string& iree) {
  HONE_ASSIGN(const iree::Installation installation, iree::find_installation(iree));
  HONE_ASSIGN(const iree::Library library, iree::Library::open(installation));
  CompileWorker worker(library);
  return worker::serve_zygote(ChildProcess::kChildSocket,
                              {.prepare = [&](const Message& m) { return worker.prepare(m); },
                               .run = [&](const Message& m) { return worker.compile(m); },
                               .once = [&](const Message& m) { return worker.once(m); }});
}

CommandResult serve_runs() {
  device::cuda::LeasedDevices gpus;
  measure::Runner runner(device::cpu::open_device, [&gpus](int index) { return gpus.open(index); });
  return worker::serve_runner(
      ChildProcess::kChildSocket,
      [&runner](const Message& message) -> Outcome {
        auto answer = measure::handle(runner, message.kind, message.body, message.blobs);
        if (!answer) return refuse(answer.error(), FailureKind::kLoadError);
        return Message{"done", std::move(answer->first), std::move(answer->second)};
      },
      [&runner] { return runner.has_lost_its_device(); });
}

}  // namespace

void add_worker_command(CLI::App& app, Run& run) {
  CLI::App* worker = app.add_subcommand("worker", "")->group("");
  CLI::App* compile = worker->add_subcommand("compile", "");
  auto iree = std::make_shared<std::string>();
  compile->add_option("--iree", *iree);
  compile->callback([&run, iree] { run = [iree] { return serve_compiles(*iree); }; });
  CLI::App* triton = worker->add_subcommand("triton", "");
  auto python = std::make_shared<std::string>(), script = std::make_shared<std::string>();
  triton->add_option("--python", *python);
  triton->add_option("--script", *script);
  triton->callback([&run, python, script] {
    run = [python, script]() -> CommandResult {
      return tl::unexpected(
          worker::exec_worker(ChildProcess::kChildSocket, {*python, "-B", *script}));
    };
  });
  CLI::App* runner = worker->add_subcommand("run", "");
  runner->callback([&run] { run = serve_runs; });
}

}  // namespace hone::cli
