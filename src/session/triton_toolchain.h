// The running Triton compile workers of a command, and its folder for temporary files.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/signals.h"
#include "device/place.h"
#include "provider/triton/gemm_device.h"
#include "provider/triton/installation.h"
#include "session/toolchain.h"
#include "trial/compile_service.h"
#include "worker/persistent_pool.h"
#include "worker/tuner_folder.h"

namespace hone::session {

// The facts of the GPU's kind, with what its driver says of this one. Input errors:
// gemm_device()'s.
Result<triton::GemmDevice> gemm_device_of(const device::Facts& gpu);

// Compile workers of Triton's, with their sources below the folder for temporary files. They are
// for as long as `temporary`, the tuner's folder, is. `stop_fd`: once it is readable they are not
// waited for.
Result<std::unique_ptr<worker::PersistentPool>> start_triton_workers(
    const triton::Installation& installation, const ToolchainOptions& options,
    std::function<std::string(const worker::Message&)> same_work, int stop_fd,
    const std::filesystem::path& temporary);

class TritonToolchain {
 public:
  // An environment error when the workers do not start.
  static Result<TritonToolchain> start(triton::Installation installation,
                                       const triton::GemmDevice& device,
                                       const ToolchainOptions& options);

  const triton::Installation& installation() const { return installation_; }
  trial::CompileService& compiler() { return *compiler_; }
  int stop_fd() const { return stop_.fd(); }
  worker::RunnerProcess make_runner() const;

 private:
  TritonToolchain(worker::TunerFolder folder, StopSignal stop, triton::Installation installation)
      : folder_(std::move(folder)),
        stop_(std::move(stop)),
        installation_(std::move(installation)) {}
  worker::TunerFolder folder_;
  StopSignal stop_;
  triton::Installation installation_;
  std::unique_ptr<worker::PersistentPool> pool_;
  std::unique_ptr<trial::CompileService> compiler_;
};

}  // namespace hone::session
