#include "session/toolchain.h"

#include <algorithm>
#include <filesystem>

#include "device/cpu/code_features.h"
#include "device/cpu/target.h"
#include "provider/iree/program/program.h"
#include "session/remote_jobs.h"
#include "tune/services/context.h"
#include "tune/services/load_program.h"
#include "worker/no_workers.h"
#include "worker/remote_worker.h"

namespace hone::session {
namespace {

std::vector<std::string> flags_for(const std::string& cpu, const std::vector<std::string>& more) {
  return tune::joined(iree::cpu_flags(cpu), more);
}

worker::JobLimits job_limits(const ToolchainOptions& options) {
  return {.seconds = options.compile_seconds,
          .memory_bytes = static_cast<std::uint64_t>(options.compile_gigabytes * 1e9)};
}

}  // namespace

int jobs_of(const ToolchainOptions& options) {
  return options.jobs > 0 ? options.jobs : static_cast<int>(device::cpu::available_cores().size());
}

std::optional<problem::GpuTarget> gpu_of(const ToolchainOptions& options) {
  auto target = problem::gpu_target(options.target);
  if (!target) return std::nullopt;
  return std::move(*target);
}

std::string target_note(const ToolchainOptions& options) {
  const auto gpu = gpu_of(options);
  if (!gpu || gpu->arch == gpu->compiled_as) return {};
  return fmt::format("{} is compiled for {}, the nearest target that this IREE knows", gpu->arch,
                     gpu->compiled_as);
}

nlohmann::json target_json(const ToolchainOptions& options) {
  const auto gpu = gpu_of(options);
  return {{"name", options.target}, {"compiled_as", gpu ? gpu->compiled_as : options.target}};
}

Result<problem::Program> load_for_target(trial::CompileService& compiler,
                                         const ToolchainOptions& options, const std::string& path,
                                         const std::string& bytes,
                                         const std::optional<problem::GivenSizes>& given) {
  HONE_ASSIGN(const auto provider, make_provider(options, {}));
  return tune::load_program(compiler, *provider, path, bytes, compile_flags(options), given);
}

Result<std::unique_ptr<iree::IreeProvider>> make_provider(const ToolchainOptions& options,
                                                          const iree::Installation& installation,
                                                          std::optional<int> cores,
                                                          iree::Runtime runtime) {
  if (const auto gpu = gpu_of(options))
    return std::make_unique<iree::GpuIreeProvider>(installation, *gpu, options.audited_rule,
                                                   std::move(runtime));
  HONE_ASSIGN(problem::CpuTarget cpu, host_cpu(options));
  cpu.cores = cores.value_or(cpu.cores);
  return std::make_unique<iree::CpuIreeProvider>(installation, cpu, options.audited_rule,
                                                 std::move(runtime));
}

Result<problem::CpuTarget> host_cpu(const ToolchainOptions& options) {
  if (options.host_cpu) return *options.host_cpu;
  return device::cpu::detect_target();
}

std::vector<std::string> compile_flags(const ToolchainOptions& options) {
  if (const auto gpu = gpu_of(options)) return tune::joined(iree::gpu_flags(*gpu), options.flags);
  return flags_for(options.target, options.flags);
}

std::vector<std::string> reference_flags(const ToolchainOptions& options) {
  // Code for a GPU shares nothing with code for any CPU.
  if (gpu_of(options)) return flags_for(options.host, options.flags);
  const auto cpu = host_cpu(options);
  std::vector<std::string> flags =
      flags_for(device::cpu::baseline(cpu.value_or(problem::CpuTarget())), options.flags);
  // Without f16c the compiler calls a library that it does not link for each f16 conversion, or
  // emits code that flushes small numbers to zero.
  if (cpu && std::ranges::find(cpu->features, "f16c") != cpu->features.end())
    flags.emplace_back("--iree-llvmcpu-target-cpu-features=+f16c");
  return flags;
}

std::vector<std::string> travelling_reference_flags(const ToolchainOptions& options) {
  if (gpu_of(options)) return flags_for(std::string(kTravellingReferenceCpu), options.flags);
  return reference_flags(options);
}

std::string own_executable() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

Result<Toolchain> Toolchain::start(const ToolchainOptions& options) {
  HONE_ASSIGN(problem::SizeSet sizes, problem::given_sizes(options.sizes));
  const auto gpu = gpu_of(options);
  HONE_TRY(iree::check_device_flags(gpu ? iree::gpu_flags(*gpu) : iree::host_cpu_flags(),
                                    options.flags));
  HONE_ASSIGN(iree::Installation installation, iree::find_installation(options.iree));
  HONE_ASSIGN(Toolchain toolchain, claim_folder());
  toolchain.installation_ = std::move(installation);
  HONE_ASSIGN(toolchain.pool_,
              start_compile_workers("iree", toolchain.installation_.compiler_library.string(),
                                    options, toolchain.stop_fd(), toolchain.temporary()));
  toolchain.jobs_ = jobs_of(options);
  toolchain.compiler_ = std::make_unique<trial::CompileService>(
      *toolchain.pool_, problem::GivenSizes{std::move(sizes), {}, {}});
  HONE_ASSIGN(toolchain.revision_, toolchain.compiler_->ask(provider::jobs::kRevision));
  toolchain.name_ = "IREE " + toolchain.revision_;
  return toolchain;
}

Result<Toolchain> Toolchain::start(const ToolchainOptions& options, const std::string& provider,
                                   const provider::ListProvider& listed,
                                   const provider::FoundCompiler& compiler,
                                   const device::Facts& facts) {
  HONE_ASSIGN(Toolchain toolchain, claim_folder());
  const int stop_fd = toolchain.stop_fd();
  const std::filesystem::path temporary = toolchain.temporary();
  HONE_ASSIGN(const auto program,
              listed.worker_program(facts, std::filesystem::temp_directory_path()));
  if (program) {
    HONE_ASSIGN(toolchain.pool_, start_program_workers(*program, options, stop_fd, temporary));
  } else {
    HONE_ASSIGN(toolchain.pool_, start_compile_workers(provider, compiler.installation, options,
                                                       stop_fd, temporary));
  }
  toolchain.name_ = compiler.name;
  toolchain.jobs_ = jobs_of(options);
  toolchain.compiler_ = std::make_unique<trial::CompileService>(*toolchain.pool_);
  return toolchain;
}

Result<Toolchain> Toolchain::without_compiler() {
  HONE_ASSIGN(Toolchain toolchain, claim_folder());
  toolchain.pool_ = std::make_unique<worker::NoWorkers>();
  toolchain.compiler_ = std::make_unique<trial::CompileService>(*toolchain.pool_);
  return toolchain;
}

Result<Toolchain> Toolchain::claim_folder() {
  HONE_ASSIGN(StopSignal stop, StopSignal::install());
  HONE_ASSIGN(worker::TunerFolder folder, worker::TunerFolder::claim());
  return Toolchain(std::move(folder), std::move(stop));
}

Result<std::unique_ptr<worker::CompilePool>> start_compile_workers(
    const std::string& provider, const std::string& installation, const ToolchainOptions& options,
    int stop_fd, const std::filesystem::path& temporary) {
  worker::CompilePoolOptions pool;
  pool.command = {own_executable(), "worker",         "compile",   "--provider",
                  provider,         "--installation", installation};
  pool.jobs = jobs_of(options);
  pool.run = job_limits(options);
  // Compiling a whole program may take minutes; a dispatch takes a second.
  pool.once = {.seconds = 60 * pool.run.seconds, .memory_bytes = 4 * pool.run.memory_bytes};
  pool.prepare = pool.run;
  pool.stop_fd = stop_fd;
  pool.temporary = temporary;
  return worker::CompilePool::start(std::move(pool));
}

Result<std::unique_ptr<worker::PersistentPool>> start_program_workers(
    const provider::WorkerProgram& program, const ToolchainOptions& options, int stop_fd,
    const std::filesystem::path& temporary) {
  worker::PersistentPoolOptions pool;
  pool.command = tune::joined({own_executable(), "worker", "exec"}, program.command);
  pool.environment = program.environment;
  pool.workers = jobs_of(options);
  pool.limits = job_limits(options);
  pool.same_work = program.same_work;
  pool.stop_fd = stop_fd;
  pool.temporary = temporary;
  return worker::PersistentPool::start(std::move(pool));
}

std::unique_ptr<worker::RunnerTransport> Toolchain::make_runner(
    const device::Address& address, const std::vector<std::string>& environment) const {
  if (address.host.empty())
    return std::make_unique<worker::RunnerProcess>(
        session::make_runner(stop_fd(), folder_.parent()));
  return std::make_unique<worker::RemoteWorker>(
      worker::RemoteOptions{.host = address.host,
                            .first = remote::kBegin.ask({environment, {}}),
                            .stop_fd = stop_fd(),
                            .temporary = folder_.parent()});
}

worker::RunnerProcess make_runner(int stop_fd, const std::filesystem::path& temporary) {
  worker::RunnerOptions options;
  options.command = {own_executable(), "worker", "run"};
  options.stop_fd = stop_fd;
  options.temporary = temporary;
  return worker::RunnerProcess(std::move(options));
}

}  // namespace hone::session
