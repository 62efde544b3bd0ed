// What hone starts itself as: the compile workers and the runner.
#include "base/process.h"
#include "cli/command.h"
#include "cli/providers.h"
#include "device/cpu/device.h"
#include "device/cuda/leased_devices.h"
#include "measure/runner_jobs.h"
#include "worker/exec_worker.h"
#include "worker/fork_server.h"
#include "worker/runner_process.h"

namespace hone::cli {
namespace {

using worker::Message;
using worker::Outcome;

CommandResult serve_compiles(const std::string& provider, const std::string& installation) {
  HONE_ASSIGN(const auto worker, open_compile_worker(provider, installation));
  return worker::serve_zygote(ChildProcess::kChildSocket,
                              {.prepare = [&](const Message& job) { return worker->prepare(job); },
                               .run = [&](const Message& job) { return worker->run(job); },
                               .once = [&](const Message& job) { return worker->once(job); }});
}

CommandResult serve_runs() {
  device::cuda::LeasedDevices gpus;
  measure::Runner runner(
      device::cpu::open_device, [&gpus](int index) { return gpus.open(index); }, libraries());
  return worker::serve_runner(
      ChildProcess::kChildSocket,
      [&runner](const Message& message) -> Outcome {
        auto answer = measure::handle(runner, message.kind, message.body, message.blobs);
        if (!answer)
          return tl::unexpected(
              provider::Failure{provider::FailureKind::kLoadError, answer.error().message});
        return Message{"done", std::move(answer->first), std::move(answer->second)};
      },
      [&runner] { return runner.has_lost_its_device(); });
}

}  // namespace

void add_worker_command(CLI::App& app, Run& run) {
  CLI::App* worker = app.add_subcommand("worker", "")->group("");
  CLI::App* compile = worker->add_subcommand("compile", "");
  auto provider = std::make_shared<std::string>(), installation = std::make_shared<std::string>();
  compile->add_option("--provider", *provider)->required();
  compile->add_option("--installation", *installation);
  compile->callback([&run, provider, installation] {
    run = [provider, installation] { return serve_compiles(*provider, *installation); };
  });
  // A worker whose work another program does: its command line as it is.
  CLI::App* exec = worker->add_subcommand("exec", "")->prefix_command();
  exec->callback([&run, exec] {
    run = [command = exec->remaining()]() -> CommandResult {
      if (command.empty()) return input_error("hone worker exec needs a command");
      return tl::unexpected(worker::exec_worker(ChildProcess::kChildSocket, command));
    };
  });
  CLI::App* runner = worker->add_subcommand("run", "");
  runner->callback([&run] { run = serve_runs; });
}

}  // namespace hone::cli
