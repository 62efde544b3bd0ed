#include "cli/replacing_kernels.h"

#include "cli/triton_toolchain.h"
#include "provider/triton/triton_provider.h"

namespace hone::cli {

Result<std::unique_ptr<Replacing>> start_replacing(const TuneOptions& options,
                                                   const Toolchain& toolchain,
                                                   std::vector<std::string>& notes) {
  const bool asked = options.provider == "iree,triton";
  if (!asked && !options.provider.empty()) return nullptr;
  const device::Facts& facts = options.tuning.place().facts;
  const Result<triton::GemmDevice> device = gemm_device_of(facts);
  const bool fits = options.tuning.traits().own_memory && device && device->is_cuda();
  if (!fits && asked)
    return input_error(
        "--provider iree,triton: Triton's kernels take the place of IREE's on "
        "NVIDIA GPUs only: give --device cuda:0");
  if (!fits || !options.tuning.configurations.empty()) return nullptr;
  auto installation = triton::find_installation(options.gemms.triton);
  if (!installation && (asked || !options.gemms.triton.empty()))
    return tl::unexpected(installation.error());
  if (!installation) {
    notes.push_back("only IREE's own kernels are tuned, none of Triton's beside them: " +
                    installation.error().message);
    return nullptr;
  }
  auto replacing =
      std::make_unique<Replacing>(Replacing{triton::ContractionProvider(*device), nullptr});
  HONE_ASSIGN(replacing->workers, start_triton_workers(*installation, options.toolchain, {},
                                                       toolchain.stop_fd(), toolchain.temporary()));
  toolchain.compiler().add_replacing(std::string(replacing->provider.name()), *replacing->workers,
                                     triton::worker_flags(*device));
  return replacing;
}

}  // namespace hone::cli
