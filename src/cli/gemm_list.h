// The GEMMs of a command line as dispatches to tune.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "cli/tune_options.h"
#include "provider/triton/gemm_device.h"
#include "tune/dispatch/dispatch_list.h"

namespace hone::cli {

struct Gemms {
  tune::DispatchList list;
  std::map<std::string, triton::GemmEntry> entries;  // by dispatch name
  std::shared_ptr<const triton::UserKernel> kernel;  // a user's own; none: hone's
};

// Each size once. Errors as gemms_of() and user_kernel().
Result<Gemms> read_gemms(const GemmOptions& options, const std::string& input);

// "sizes.yaml:3: " for an entry of a file, else empty.
std::string place_of(const triton::GemmEntry& entry, const std::string& path);

// An input error, which begins with the entry's place, where the GPU `name` of `memory_bytes`
// cannot hold what measuring the GEMM takes, or Triton has no code for its types on `device`.
Status check_fits(const triton::GemmEntry& entry, const std::string& path, const std::string& name,
                  std::int64_t memory_bytes, const triton::GemmDevice& device);

// Whether the user's manifest fits a size; where there is no `kernel`, everything does. An input
// error of user_kernel_space().
Status check_kernel(const triton::UserKernel* kernel, const triton::GemmEntry& entry,
                    const triton::GemmDevice& device);

}  // namespace hone::cli
