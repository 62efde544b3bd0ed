// hone worker: processes that hone starts for itself (compile workers, the runner, the lister of
// devices, the server of a tuner elsewhere).
#include "base/process.h"
#include "cli/command.h"
#include "measure/runner.h"
#include "session/place_server.h"
#include "session/places.h"
#include "session/registry.h"
#include "worker/fork_server.h"
#include "worker/janitor.h"
#include "worker/runner_process.h"

namespace hone::cli {
namespace {

using worker::Message;

CommandResult serve_compiles(const std::string& provider, const std::string& installation) {
  HONE_ASSIGN(const auto worker, open_compile_worker(provider, installation));
  const auto answer = [&](Message job) { return provider::answer(*worker, std::move(job)); };
  return worker::serve_zygote(ChildProcess::kChildSocket,
                              {.prepare = answer, .run = answer, .once = answer});
}

CommandResult serve_runs() {
  measure::Runner runner(runner_device_kinds(), libraries());
  return worker::serve_runner(
      ChildProcess::kChildSocket,
      [&runner](Message message) { return measure::handle(runner, std::move(message)); },
      [&runner] { return runner.has_lost_its_device(); });
}

}  // namespace

void add_worker_command(CLI::App& app, Action& run) {
  CLI::App* worker = app.add_subcommand("worker", "")->group("");
  CLI::App* compile = worker->add_subcommand("compile", "");
  auto provider = std::make_shared<std::string>(), installation = std::make_shared<std::string>();
  compile->add_option("--provider", *provider)->required();
  compile->add_option("--installation", *installation);
  compile->callback([&run, provider, installation] {
    run = [provider, installation] { return serve_compiles(*provider, *installation); };
  });
  // Runs another program's worker; its command line is passed on unchanged.
  CLI::App* exec = worker->add_subcommand("exec", "")->prefix_command();
  exec->callback([&run, exec] {
    run = [command = exec->remaining()]() -> CommandResult {
      if (command.empty()) return input_error("hone worker exec needs a command");
      return tl::unexpected(worker::exec_worker(ChildProcess::kChildSocket, command));
    };
  });
  CLI::App* runner = worker->add_subcommand("run", "");
  runner->callback([&run] { run = serve_runs; });
  CLI::App* serve = worker->add_subcommand("serve", "");
  serve->callback([&run] { run = []() -> CommandResult { return serve_places(); }; });
  CLI::App* devices = worker->add_subcommand("devices", "");
  auto kind = std::make_shared<std::string>();
  auto cores = std::make_shared<std::vector<int>>();
  devices->add_option("KIND", *kind)->required();
  devices->add_option("--cores", *cores)->delimiter(',');
  devices->callback([&run, kind, cores] {
    run = [kind, cores]() -> CommandResult {
      HONE_ASSIGN(const std::string answer, places_answer(*kind, *cores));
      fmt::print("{}\n", answer);
      return 0;
    };
  });
}

}  // namespace hone::cli
