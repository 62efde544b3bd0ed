// Who makes kernels that take the place of the compiler's own in a program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/toolchain.h"
#include "cli/tune_options.h"
#include "provider/triton/contraction_provider.h"
#include "provider/triton/installation.h"
#include "worker/persistent_pool.h"

namespace hone::cli {

// What Triton's kernels are made by, and for which device.
struct ReplacingTools {
  triton::Installation installation;
  triton::GemmDevice device;
};

// Before anything is written. None where the user or the device wants none, or there is no Triton
// and nobody asked for it, of which a line is added to `notes`. Errors where --provider or --triton
// asks for it: an input error for another device than an NVIDIA GPU, else those of
// triton::find_installation.
Result<std::optional<ReplacingTools>> find_replacing(const TuneOptions& options,
                                                     std::vector<std::string>& notes);

// Triton and its compile workers, which `toolchain` knows from start_replacing() on.
struct Replacing {
  triton::ContractionProvider provider;
  std::unique_ptr<worker::PersistentPool> workers;
};

// Null without tools.
Result<std::unique_ptr<Replacing>> start_replacing(const std::optional<ReplacingTools>& tools,
                                                   const ToolchainOptions& options,
                                                   const Toolchain& toolchain);

}  // namespace hone::cli
