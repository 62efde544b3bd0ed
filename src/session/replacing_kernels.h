// Providers of kernels that replace the compiler's own in a program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "problem/target.h"
#include "provider/external/external_kernel.h"
#include "provider/provider.h"
#include "provider/triton/gemm_device.h"
#include "provider/triton/triton_provider.h"
#include "session/session_options.h"
#include "session/toolchain.h"
#include "worker/worker_pool.h"

namespace hone::session {

// Reads the manifests of --external. Input errors: those of external::read_external_kernel, and a
// name that two manifests share.
Result<std::vector<external::ExternalKernel>> read_external_kernels(
    const std::vector<std::string>& paths);

// Tools that make replacing kernels.
struct ReplacingTools {
  std::optional<triton::TritonInstallation> triton;
  std::vector<external::ExternalKernel> kernels;  // of --external
  triton::GemmDevice device;                      // for which
  std::string target;                             // the same as a name: "sm_90"
  std::optional<problem::CpuTarget> cpu = {};     // that hone's own kernels are for
};

// Finds the tools, before anything is written. Empty if the user or the device wants none, or if
// Triton is missing and was not asked for; a note then says so. If --provider, --triton or
// --external asks for replacing kernels, errors are: an input error for a device that they are not
// for, those of triton::find_installation and external::read_external_kernel.
Result<ReplacingTools> find_replacing(const SessionOptions& options,
                                      std::vector<std::string>& notes);

// Returns the tools of --external for a GPU that this machine need not have ("sm_90"), without
// Triton. An input error for a GPU that hone does not know.
Result<ReplacingTools> find_replacing_for(const SessionOptions& options, const std::string& target);

// Returns the providers whose kernels may replace the compiler's on a target: Triton's on a GPU,
// installed or not, hone's own on a CPU, and the user's own. They serve to ask which dispatches
// they support. `manifests`: paths of the user's kernels. `gpu`: none for a CPU. Input errors:
// those of external::read_external_kernel, and a kernel that is given twice.
Result<std::vector<std::unique_ptr<provider::Provider>>> replacing_providers(
    const std::vector<std::string>& manifests, const std::optional<problem::GpuTarget>& gpu);

// Provider and its compile workers, which start_replacing() adds to `toolchain`; none where the
// toolchain's own compile its kernels.
struct Replacing {
  std::unique_ptr<provider::Provider> provider;
  std::unique_ptr<worker::WorkerPool> workers;
};

Result<std::vector<Replacing>> start_replacing(const ReplacingTools& tools,
                                               const ToolchainOptions& options,
                                               const Toolchain& toolchain);

}  // namespace hone::session
