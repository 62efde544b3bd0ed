#include "session/triton_toolchain.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "device/cpu/target.h"
#include "provider/triton/triton_provider.h"

namespace hone::session {

Result<triton::GemmDevice> gemm_device_of(const device::Facts& gpu) {
  HONE_ASSIGN(triton::GemmDevice device, triton::gemm_device(gpu.target));
  device.units = gpu.units;
  device.shared_bytes = gpu.workgroup_memory_bytes;
  device.l2_bytes = gpu.last_level_cache_bytes;
  return device;
}

Result<std::unique_ptr<worker::PersistentPool>> start_triton_workers(
    const triton::Installation& installation, const ToolchainOptions& options,
    std::function<std::string(const worker::Message&)> same_work, int stop_fd,
    const std::filesystem::path& temporary) {
  const std::filesystem::path own = std::filesystem::temp_directory_path();
  HONE_ASSIGN(const std::filesystem::path script, triton::write_sources(own / "triton"));
  worker::PersistentPoolOptions pool;
  pool.command = {own_executable(), "worker", "exec"};
  std::ranges::move(triton::worker_command(installation, script), std::back_inserter(pool.command));
  // Compiled code is in the store; the user's own cache of Triton's is left alone.
  pool.environment = {{"TRITON_CACHE_DIR", (own / "cache").string()},
                      {"TRITON_DEFAULT_FP_FUSION", "1"}};
  pool.workers =
      options.jobs > 0 ? options.jobs : static_cast<int>(device::cpu::available_cores().size());
  pool.limits = {.seconds = options.compile_seconds,
                 .memory_bytes = static_cast<std::uint64_t>(options.compile_gigabytes * 1e9)};
  pool.same_work = std::move(same_work);
  pool.stop_fd = stop_fd;
  pool.temporary = temporary;
  return worker::PersistentPool::start(std::move(pool));
}

Result<TritonToolchain> TritonToolchain::start(triton::Installation installation,
                                               const triton::GemmDevice& device,
                                               const ToolchainOptions& options) {
  HONE_ASSIGN(StopSignal stop, StopSignal::install());
  HONE_ASSIGN(worker::TunerFolder folder, worker::TunerFolder::claim());
  TritonToolchain toolchain(std::move(folder), std::move(stop), std::move(installation));
  const auto same_work = [device](const worker::Message& job) {
    return triton::code_of(device, {job.body});
  };
  HONE_ASSIGN(toolchain.pool_,
              start_triton_workers(toolchain.installation_, options, same_work,
                                   toolchain.stop_.fd(), toolchain.folder_.parent()));
  toolchain.compiler_ = std::make_unique<trial::CompileService>(*toolchain.pool_);
  return toolchain;
}

worker::RunnerProcess TritonToolchain::make_runner() const {
  return session::make_runner(stop_fd(), folder_.parent());
}

}  // namespace hone::session
