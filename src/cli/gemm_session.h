// What a command that runs Triton's GEMMs on GPUs holds: the GPUs, the store, compile workers,
// runners, and the context that steps of tuning work with.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cli/device_options.h"
#include "cli/gemm_list.h"
#include "cli/status_line.h"
#include "cli/triton_toolchain.h"
#include "provider/triton/triton_provider.h"

namespace hone::cli {

class GemmSession {
 public:
  // Errors: input for wrong options and for GEMMs that do not fit the GPU, environment where a
  // driver, a GPU or Triton is missing. Nothing is made before these are known to be there.
  // `kernel`: a user's own, none: hone's.
  static Result<std::unique_ptr<GemmSession>> open(
      TuneOptions options, const std::vector<triton::GemmEntry>& entries, const std::string& path,
      std::shared_ptr<const triton::UserKernel> kernel = nullptr);
  GemmSession(const GemmSession&) = delete;

  const TuneOptions& options() const { return options_; }
  store::Store& store() { return store_; }
  StatusLine& status() { return status_; }
  tune::Context& context() { return context_; }
  // What to say to who has stopped it.
  Error stopped(const std::string& results) const;

 private:
  GemmSession(TuneOptions options, const triton::GemmDevice& device,
              std::vector<device::LockFile> held, store::Store store, TritonToolchain toolchain,
              std::shared_ptr<const triton::UserKernel> kernel);
  Status begin();

  TuneOptions options_;
  std::vector<device::LockFile> held_;  // on the GPUs
  store::Store store_;
  TritonToolchain toolchain_;
  triton::TritonProvider provider_;
  trial::RunnerService runner_;
  std::vector<trial::RunnerService> more_runners_;
  StatusLine status_;
  tune::Context context_;
  std::optional<trial::LeaseKeeper> leases_;
};

// The rest of `options` for Triton: budget, flags, cache, compile processes.
Status complete(TuneOptions& options, const triton::GemmDevice& device, std::size_t gemms);

// The build's row in the store.
store::Build triton_build(const triton::Installation& installation, const tune::Options& options,
                          const std::string& target);

}  // namespace hone::cli
