#include "session/list_session.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "search/strategy.h"

namespace hone::session {

tune::DispatchList dispatch_list(const provider::ListProvider& listed) {
  std::string names;
  for (const problem::Dispatch& dispatch : listed.dispatches()) names += dispatch.name + '\n';
  return {listed.path(), content_hash(names), listed.dispatches()};
}

Status complete(SessionOptions& options, const provider::ListProvider& listed,
                const device::Facts& facts) {
  tune::Options& tuning = options.tuning;
  HONE_TRY(take_effort(options, listed.dispatches().size()));
  tuning.environment = options.toolchain.environment;
  HONE_ASSIGN(tuning.flags, listed.flags(facts));
  take_reuse(options);
  leave_cores_to_runners(options);
  // Many candidates share a compile. A strategy that does not learn submits more of them at a time,
  // to keep more compiles in flight.
  const bool learns = tuning.configurations.empty() &&
                      (tuning.strategy == "auto" || search::learns(tuning.strategy));
  tuning.compile_ahead = (learns ? 2 : 16) * static_cast<std::size_t>(options.toolchain.jobs);
  tuning.rotating_bytes = options.rotating_bytes;
  return {};
}

Result<ListToolchain> ListToolchain::start(const std::string& provider,
                                           const provider::ListProvider& listed,
                                           const provider::FoundCompiler& compiler,
                                           const device::Facts& facts,
                                           const ToolchainOptions& options) {
  HONE_ASSIGN(StopSignal stop, StopSignal::install());
  HONE_ASSIGN(worker::TunerFolder folder, worker::TunerFolder::claim());
  ListToolchain toolchain(std::move(folder), std::move(stop), compiler.name);
  const std::filesystem::path temporary = toolchain.folder_.parent();
  HONE_ASSIGN(const auto program,
              listed.worker_program(facts, std::filesystem::temp_directory_path()));
  if (program) {
    HONE_ASSIGN(toolchain.pool_,
                start_program_workers(*program, options, toolchain.stop_fd(), temporary));
  } else {
    HONE_ASSIGN(toolchain.pool_, start_compile_workers(provider, compiler.installation, options,
                                                       toolchain.stop_fd(), temporary));
  }
  toolchain.compiler_ = std::make_unique<trial::CompileService>(*toolchain.pool_);
  return toolchain;
}

worker::RunnerProcess ListToolchain::make_runner() const {
  return session::make_runner(stop_fd(), folder_.parent());
}

store::BuildRow ListToolchain::build_row(const tune::Options& options,
                                         const std::string& target) const {
  store::BuildRow row;
  row.compiler = name_;
  row.flags = nlohmann::json(options.flags).dump();
  nlohmann::json compiled_for{{problem::gpu_target(target) ? "gpu" : "cpu", target}};
  if (!options.environment.empty()) compiled_for["environment"] = options.environment;
  row.target = compiled_for.dump();
  return row;
}

Result<std::unique_ptr<ListSession>> ListSession::open(
    SessionOptions options, const std::string& provider,
    std::unique_ptr<provider::ListProvider> listed) {
  if (options.device.empty() && options.toolchain.target == "host")
    options.device = listed->device();
  HONE_ASSIGN(const std::vector<int> cores, choose_cores(options.cores));
  HONE_ASSIGN(options.tuning.places, choose_places(options.device, options.toolchain, cores));
  const device::Facts facts = options.tuning.place().facts;
  HONE_ASSIGN(std::unique_ptr<provider::Provider> kernels, listed->provider_for(facts));
  HONE_TRY(complete(options, *listed, facts));
  HONE_ASSIGN(const provider::FoundCompiler compiler, listed->find_compiler());
  HONE_TRY(make_out(options));
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  HONE_ASSIGN(std::vector<device::LockFile> held, lease(options.tuning.places));
  HONE_ASSIGN(ListToolchain toolchain,
              ListToolchain::start(provider, *listed, compiler, facts, options.toolchain));
  std::unique_ptr<ListSession> session(new ListSession(std::move(options), std::move(listed),
                                                       std::move(kernels), std::move(held),
                                                       std::move(store), std::move(toolchain)));
  HONE_TRY(session->begin());
  return session;
}

ListSession::ListSession(SessionOptions options, std::unique_ptr<provider::ListProvider> listed,
                         std::unique_ptr<provider::Provider> provider,
                         std::vector<device::LockFile> held, store::Store store,
                         ListToolchain toolchain)
    : options_(std::move(options)),
      listed_(std::move(listed)),
      provider_(std::move(provider)),
      held_(std::move(held)),
      store_(std::move(store)),
      toolchain_(std::move(toolchain)),
      runner_(toolchain_.make_runner(), options_.kernel_seconds),
      status_(status_style(options_)),
      context_{options_.tuning, *provider_, toolchain_.compiler(), runner_, store_, status_} {}

Status ListSession::begin() {
  for (std::size_t i = 1; i < options_.tuning.places.size(); ++i)
    more_runners_.emplace_back(toolchain_.make_runner(), options_.kernel_seconds);
  for (trial::RunnerService& each : more_runners_) context_.more_runners.push_back(&each);
  HONE_ASSIGN(trial::LeaseKeeper leases, trial::LeaseKeeper::start(store_, toolchain_.stop_fd()));
  leases_.emplace(std::move(leases));
  context_.leases = &*leases_;
  context_.stop_fd = toolchain_.stop_fd();
  HONE_ASSIGN(context_.baseline.build, store_.intern(toolchain_.build_row(
                                           options_.tuning, options_.tuning.place().facts.target)));
  HONE_ASSIGN(context_.device, store_.intern(device_row(options_.tuning)));
  return {};
}

Error ListSession::stopped(const Error& error, const std::string& results) const {
  if (error.kind != ErrorKind::kInterrupted) return error;
  return {
      ErrorKind::kInterrupted,
      fmt::format("stopped; what is finished is in '{}' and '{}', and the same command continues",
                  results, options_.store)};
}

}  // namespace hone::session
