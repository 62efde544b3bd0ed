#include "cli/replacing_kernels.h"

#include "cli/triton_toolchain.h"
#include "provider/triton/triton_provider.h"

namespace hone::cli {

Result<std::optional<ReplacingTools>> find_replacing(const TuneOptions& options,
                                                     std::vector<std::string>& notes) {
  using Found = std::optional<ReplacingTools>;
  const bool asked = options.provider == "iree,triton";
  if (!options.searches || (!asked && !options.provider.empty())) return Found();
  const Result<triton::GemmDevice> device = gemm_device_of(options.tuning.place().facts);
  const bool fits = options.tuning.traits().own_memory && device && device->is_cuda();
  if (!fits && asked)
    return input_error(
        "--provider iree,triton: Triton's kernels take the place of IREE's on NVIDIA GPUs only: "
        "give --device cuda:0");
  // Configurations that were given by hand are IREE's.
  if (!fits || !options.tuning.configurations.empty()) return Found();
  auto installation = triton::find_installation(options.gemms.triton);
  if (installation) return Found({std::move(*installation), *device});
  if (asked || !options.gemms.triton.empty()) return tl::unexpected(installation.error());
  notes.push_back("only IREE's own kernels are tuned, none of Triton's beside them: " +
                  installation.error().message);
  return Found();
}

Result<std::unique_ptr<Replacing>> start_replacing(const std::optional<ReplacingTools>& tools,
                                                   const ToolchainOptions& options,
                                                   const Toolchain& toolchain) {
  if (!tools) return nullptr;
  auto replacing =
      std::make_unique<Replacing>(Replacing{triton::ContractionProvider(tools->device), nullptr});
  HONE_ASSIGN(replacing->workers, start_triton_workers(tools->installation, options, {},
                                                       toolchain.stop_fd(), toolchain.temporary()));
  toolchain.compiler().add_replacing(std::string(replacing->provider.name()), *replacing->workers,
                                     triton::worker_flags(tools->device));
  return replacing;
}

}  // namespace hone::cli
