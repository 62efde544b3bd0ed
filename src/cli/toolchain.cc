#include "cli/toolchain.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"
#include "device/cpu/target.h"
#include "provider/iree/compiler/flags_file.h"
#include "provider/iree/program/program.h"
#include "tune/services/load_program.h"

namespace hone::cli {
namespace {

std::vector<std::string> flags_for(const std::string& cpu, const std::vector<std::string>& more) {
  std::vector<std::string> flags{"--iree-hal-target-device=local",
                                 "--iree-hal-local-target-device-backends=llvm-cpu",
                                 "--iree-llvmcpu-target-cpu=" + cpu};
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

// CLI11 takes what is returned for the reason why the value is refused.
std::string check_target(const std::string& name) {
  std::vector<std::string> gpus;
  for (const problem::GpuTarget& target : problem::known_gpu_targets()) gpus.push_back(target.arch);
  // A slip in a GPU's name must not go to LLVM as a CPU's.
  const bool slip = name != "host" && name.size() > 3 && !nearest_names(name, gpus).empty();
  if (!problem::names_gpu(name) && !slip) return {};
  const auto target = problem::gpu_target(name);
  return target ? std::string() : target.error().message;
}

// CLI11 takes what is returned for the reason why the value is refused.
std::string check_variable(const std::string& text) {
  const auto name = text.substr(0, text.find('='));
  const bool is_name = !name.empty() && name.find_first_not_of(
                                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "abcdefghijklmnopqrstuvwxyz"
                                            "0123456789_") == std::string::npos;
  if (is_name && name.size() < text.size()) return {};
  return fmt::format("'{}' is not NAME=VALUE, as HSA_OVERRIDE_GFX_VERSION=9.4.0 is", text);
}

// While options are read, before a thread or a process is started or a driver opened.
void set_variable(const std::string& text) {
  const auto equals = text.find('=');
  ::setenv(text.substr(0, equals).c_str(), text.substr(equals + 1).c_str(), /*replace=*/1);
}

}  // namespace

int jobs_of(const ToolchainOptions& options) {
  return options.jobs > 0 ? options.jobs : static_cast<int>(device::cpu::available_cores().size());
}

Status read_flags(ToolchainOptions& options) {
  if (options.flags_file.empty()) return {};
  HONE_ASSIGN(const std::string text, read_file(options.flags_file));
  HONE_ASSIGN(iree::FileFlags file, iree::read_flags_file(options.flags_file, text));
  const std::string wrong = file.target.empty() ? "" : check_target(file.target);
  if (!wrong.empty()) return input_error("{}: {}", options.flags_file, wrong);
  if (!file.target.empty() && options.target != "host" && options.target != file.target)
    return input_error("{} is for {}, and --target says {}", options.flags_file, file.target,
                       options.target);
  if (!file.target.empty()) options.target = file.target;
  // What the command line says comes last, and so is what counts.
  options.flags.insert(options.flags.begin(), file.flags.begin(), file.flags.end());
  for (const std::string& note : file.notes) say("{}\n", note);
  options.flags_file.clear();
  return {};
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
  HONE_ASSIGN(const iree::IreeProvider provider, make_provider(options, {}));
  return tune::load_program(compiler, provider, path, bytes, compile_flags(options), given);
}

Result<iree::IreeProvider> make_provider(const ToolchainOptions& options,
                                         const iree::Installation& installation,
                                         std::optional<int> cores) {
  if (const auto gpu = gpu_of(options))
    return iree::IreeProvider(installation, *gpu, options.audited_rule);
  HONE_ASSIGN(problem::CpuTarget cpu, device::cpu::detect_target());
  cpu.cores = cores.value_or(cpu.cores);
  return iree::IreeProvider(installation, cpu, options.audited_rule);
}

void add_toolchain_options(CLI::App& command, ToolchainOptions& options) {
  command.add_option("--iree", options.iree,
                     "IREE: libIREECompiler.so, a virtual environment or a site-packages folder "
                     "(default: $HONE_IREE, where hone is installed, .venv, python3 on PATH)");
  command
      .add_option("--target", options.target,
                  "CPU to compile for, as LLVM names it, or a GPU: sm_80, gfx942, ...")
      ->check(CLI::Validator(check_target, ""))
      ->capture_default_str();
  command.add_option("--flag", options.flags, "a further flag for iree-compile; repeatable");
  command
      .add_option("--compile-flags-file", options.flags_file,
                  "file of such flags, or of a whole iree-compile command: its target is hone's "
                  "where --target does not say")
      ->type_name("FILE");
  command
      .add_option(
          "--dim", options.sizes,
          "size that the program leaves open (?): batch=8 as the model calls it, input0.0=8 by "
          "argument, M=512 by product; hone tune: M=1,16,512 for one configuration that serves "
          "all; repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--env", options.environment,
                  "variable for the compiler, the runners and the drivers, kept with what is found "
                  "(HSA_OVERRIDE_GFX_VERSION=9.4.0); repeatable")
      ->check(CLI::Validator(check_variable, ""))
      ->each(set_variable)
      ->allow_extra_args(false);
  command.add_option("--jobs", options.jobs, "compile processes (default: one per core)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--compile-timeout", options.compile_seconds, "seconds for one candidate")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_option("--compile-memory", options.compile_gigabytes, "GB for one candidate")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
}

std::vector<std::string> compile_flags(const ToolchainOptions& options) {
  if (const auto gpu = gpu_of(options)) {
    std::vector<std::string> flags = iree::gpu_flags(*gpu);
    flags.insert(flags.end(), options.flags.begin(), options.flags.end());
    return flags;
  }
  return flags_for(options.target, options.flags);
}

std::vector<std::string> reference_flags(const ToolchainOptions& options) {
  // A GPU's code shares nothing with any CPU's.
  if (gpu_of(options)) return flags_for("host", options.flags);
  std::vector<std::string> flags = flags_for("x86-64", options.flags);
  // Without it each f16 is converted by a call of a library that the compiler does not link, or by
  // code that makes small numbers zero.
  const auto cpu = device::cpu::detect_target();
  if (cpu && std::ranges::find(cpu->features, "f16c") != cpu->features.end())
    flags.emplace_back("--iree-llvmcpu-target-cpu-features=+f16c");
  return flags;
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
  HONE_ASSIGN(StopSignal stop, StopSignal::install());
  HONE_ASSIGN(worker::TunerFolder folder, worker::TunerFolder::claim());
  Toolchain toolchain(std::move(folder), std::move(stop), std::move(installation));

  HONE_ASSIGN(
      toolchain.pool_,
      toolchain.start_workers("iree", toolchain.installation_.compiler_library.string(), options));
  toolchain.jobs_ = jobs_of(options);
  toolchain.compiler_ = std::make_unique<trial::CompileService>(
      *toolchain.pool_, problem::GivenSizes{std::move(sizes), {}, {}});
  HONE_ASSIGN(toolchain.revision_, toolchain.compiler_->revision());
  return toolchain;
}

Result<std::unique_ptr<worker::CompilePool>> Toolchain::start_workers(
    const std::string& provider, const std::string& installation,
    const ToolchainOptions& options) const {
  worker::CompilePoolOptions pool;
  pool.command = {own_executable(), "worker",         "compile",   "--provider",
                  provider,         "--installation", installation};
  pool.jobs = jobs_of(options);
  const auto memory_bytes = static_cast<std::uint64_t>(options.compile_gigabytes * 1e9);
  pool.run = {.seconds = options.compile_seconds, .memory_bytes = memory_bytes};
  // A whole program may take minutes where one dispatch takes a second.
  pool.once = {.seconds = 60 * options.compile_seconds, .memory_bytes = 4 * memory_bytes};
  pool.prepare = pool.run;
  pool.stop_fd = stop_.fd();
  pool.temporary = folder_.parent();
  return worker::CompilePool::start(std::move(pool));
}

worker::RunnerProcess Toolchain::make_runner() const {
  return cli::make_runner(stop_fd(), folder_.parent());
}

worker::RunnerProcess make_runner(int stop_fd, const std::filesystem::path& temporary) {
  worker::RunnerOptions options;
  options.command = {own_executable(), "worker", "run"};
  options.stop_fd = stop_fd;
  options.temporary = temporary;
  return worker::RunnerProcess(std::move(options));
}

}  // namespace hone::cli
