// Who makes kernels that take the place of the compiler's own in a program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "provider/external/external_kernel.h"
#include "provider/provider.h"
#include "provider/triton/gemm_device.h"
#include "provider/triton/installation.h"
#include "session/session_options.h"
#include "session/toolchain.h"
#include "worker/worker_pool.h"

namespace hone::session {

// The manifests of --external. Input errors as external::read_external_kernel, and for a name that
// two of them have.
Result<std::vector<external::ExternalKernel>> read_external_kernels(
    const std::vector<std::string>& paths);

// What such kernels are made by.
struct ReplacingTools {
  std::optional<triton::Installation> triton;
  std::vector<external::ExternalKernel> kernels;  // of --external
  triton::GemmDevice device;                      // for which
  std::string target;                             // the same as a name: "sm_90"
};

// Before anything is written. Nothing where the user or the device wants none, or there is no
// Triton and nobody asked for it, of which a line is added to `notes`. Errors where --provider,
// --triton or --external asks for it: an input error for another device than an NVIDIA GPU, else
// those of triton::find_installation and external::read_external_kernel.
Result<ReplacingTools> find_replacing(const SessionOptions& options,
                                      std::vector<std::string>& notes);

// Returns the tools of --external for a GPU that is not here ("sm_90"): without Triton. Input error
// for one that is not NVIDIA's.
Result<ReplacingTools> find_replacing_for(const SessionOptions& options, const std::string& target);

// Whose kernels may take the place of the compiler's on a target, to be asked which dispatches they
// are for: Triton's on an NVIDIA GPU, whether Triton is there or not, and those of the user's own.
// `manifests`: their paths. `gpu`: none for a CPU. Input errors as external::read_external_kernel,
// and for a kernel that is given twice.
Result<std::vector<std::unique_ptr<provider::Provider>>> replacing_providers(
    const std::vector<std::string>& manifests, const std::optional<problem::GpuTarget>& gpu);

// A provider and its compile workers, which `toolchain` knows from start_replacing() on.
struct Replacing {
  std::unique_ptr<provider::Provider> provider;
  std::unique_ptr<worker::WorkerPool> workers;
};

Result<std::vector<Replacing>> start_replacing(const ReplacingTools& tools,
                                               const ToolchainOptions& options,
                                               const Toolchain& toolchain);

}  // namespace hone::session
