#include "cli/toolchain.h"

#include <filesystem>

#include "device/cpu/target.h"

namespace hone::cli {
namespace {

std::vector<std::string> flags_for(const std::string& cpu, const std::vector<std::string>& more) {
  std::vector<std::string> flags{"--iree-hal-target-device=local",
                                 "--iree-hal-local-target-device-backends=llvm-cpu",
                                 "--iree-llvmcpu-target-cpu=" + cpu};
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

}  // namespace

void add_toolchain_options(CLI::App& command, ToolchainOptions& options) {
  command.add_option("--iree", options.iree,
                     "IREE: libIREECompiler.so, a virtual environment or a site-packages folder "
                     "(default: $HONE_IREE, .venv, python3 on PATH)");
  command.add_option("--target", options.target, "CPU to compile for, as LLVM names it")
      ->capture_default_str();
  command.add_option("--flag", options.flags, "a further flag for iree-compile; repeatable");
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
  return flags_for(options.target, options.flags);
}

std::vector<std::string> reference_flags(const ToolchainOptions& options) {
  return flags_for("x86-64", options.flags);
}

std::string own_executable() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

Result<Toolchain> Toolchain::start(const ToolchainOptions& options) {
  HONE_ASSIGN(iree::Installation installation, iree::find_installation(options.iree));
  HONE_ASSIGN(StopSignal stop, StopSignal::install());
  HONE_ASSIGN(worker::TunerFolder folder, worker::TunerFolder::claim());
  Toolchain toolchain(std::move(folder), std::move(stop), std::move(installation));

  worker::CompilePoolOptions pool;
  pool.command = {own_executable(), "worker", "compile", "--iree",
                  toolchain.installation_.compiler_library.string()};
  pool.jobs =
      options.jobs > 0 ? options.jobs : static_cast<int>(device::cpu::available_cores().size());
  const auto memory_bytes = static_cast<std::uint64_t>(options.compile_gigabytes * 1e9);
  pool.run = {.seconds = options.compile_seconds, .memory_bytes = memory_bytes};
  // A whole program may take minutes where one dispatch takes a second.
  pool.once = {.seconds = 60 * options.compile_seconds, .memory_bytes = 4 * memory_bytes};
  pool.prepare = pool.run;
  pool.stop_fd = toolchain.stop_.fd();
  pool.temporary = toolchain.folder_.parent();
  HONE_ASSIGN(toolchain.pool_, worker::CompilePool::start(std::move(pool)));
  toolchain.compiler_ = std::make_unique<tune::CompileService>(*toolchain.pool_);
  HONE_ASSIGN(toolchain.revision_, toolchain.compiler_->revision());
  return toolchain;
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
