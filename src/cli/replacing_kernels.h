// Who makes kernels that take the place of the compiler's own in a program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/toolchain.h"
#include "cli/tune_options.h"
#include "provider/triton/contraction_provider.h"
#include "worker/persistent_pool.h"

namespace hone::cli {

// Triton and its compile workers, which `toolchain` knows from start_replacing() on.
struct Replacing {
  triton::ContractionProvider provider;
  std::unique_ptr<worker::PersistentPool> workers;
};

// Null where the user or the device wants none, or there is no Triton and nobody asked for it, of
// which a line is added to `notes`.
// Errors where --provider or --triton asks for it: an input error for another device than an NVIDIA
// GPU, else those of triton::find_installation.
Result<std::unique_ptr<Replacing>> start_replacing(const TuneOptions& options,
                                                   const Toolchain& toolchain,
                                                   std::vector<std::string>& notes);

}  // namespace hone::cli
