#include "cli/triton_toolchain.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "device/cpu/target.h"
#include "provider/triton/triton_provider.h"

namespace hone::cli {

Result<TritonToolchain> TritonToolchain::start(triton::Installation installation,
                                               const triton::GemmDevice& device,
                                               const ToolchainOptions& options) {
  HONE_ASSIGN(StopSignal stop, StopSignal::install());
  HONE_ASSIGN(worker::TunerFolder folder, worker::TunerFolder::claim());
  TritonToolchain toolchain(std::move(folder), std::move(stop), std::move(installation));
  const std::filesystem::path own = std::filesystem::temp_directory_path();
  HONE_ASSIGN(const std::filesystem::path script, triton::write_sources(own / "triton"));

  worker::PersistentPoolOptions pool;
  pool.command = {own_executable(), "worker", "exec"};
  std::ranges::move(triton::worker_command(toolchain.installation_, script),
                    std::back_inserter(pool.command));
  // Compiled code is in the store; the user's own cache of Triton's is left alone.
  pool.environment = {{"TRITON_CACHE_DIR", (own / "cache").string()},
                      {"TRITON_DEFAULT_FP_FUSION", "1"}};
  pool.workers =
      options.jobs > 0 ? options.jobs : static_cast<int>(device::cpu::available_cores().size());
  pool.limits = {.seconds = options.compile_seconds,
                 .memory_bytes = static_cast<std::uint64_t>(options.compile_gigabytes * 1e9)};
  pool.same_work = [device](const worker::Message& job) {
    return triton::code_of(device, {job.body});
  };
  pool.stop_fd = toolchain.stop_.fd();
  pool.temporary = toolchain.folder_.parent();
  HONE_ASSIGN(toolchain.pool_, worker::PersistentPool::start(std::move(pool)));
  toolchain.compiler_ = std::make_unique<tune::CompileService>(*toolchain.pool_);
  return toolchain;
}

worker::RunnerProcess TritonToolchain::make_runner() const {
  return cli::make_runner(stop_fd(), folder_.parent());
}

}  // namespace hone::cli
