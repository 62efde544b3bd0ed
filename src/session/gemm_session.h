// What a command that runs Triton's GEMMs on GPUs holds: the GPUs, the store, compile workers,
// runners, and the context that steps of tuning work with.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "output/status_line.h"
#include "provider/triton/triton_provider.h"
#include "session/gemm_list.h"
#include "session/places.h"
#include "session/session_options.h"
#include "session/triton_toolchain.h"

namespace hone::session {

class GemmSession {
 public:
  // Errors: input for wrong options and for GEMMs that do not fit the GPU, environment where a
  // driver, a GPU or Triton is missing. Nothing is made before these are known to be there.
  // `kernel`: a user's own, none: hone's.
  static Result<std::unique_ptr<GemmSession>> open(
      SessionOptions options, const std::vector<triton::GemmEntry>& entries,
      const std::string& path, std::shared_ptr<const triton::UserKernel> kernel = nullptr);
  GemmSession(const GemmSession&) = delete;

  const SessionOptions& options() const { return options_; }
  store::Store& store() { return store_; }
  output::StatusLine& status() { return status_; }
  tune::Context& context() { return context_; }
  // What to say to who has stopped it.
  Error stopped(const std::string& results) const;

 private:
  GemmSession(SessionOptions options, const triton::GemmDevice& device,
              std::vector<device::LockFile> held, store::Store store, TritonToolchain toolchain,
              std::shared_ptr<const triton::UserKernel> kernel);
  Status begin();

  SessionOptions options_;
  std::vector<device::LockFile> held_;  // on the GPUs
  store::Store store_;
  TritonToolchain toolchain_;
  triton::TritonProvider provider_;
  trial::RunnerService runner_;
  std::vector<trial::RunnerService> more_runners_;
  output::StatusLine status_;
  tune::Context context_;
  std::optional<trial::LeaseKeeper> leases_;
};

// The rest of `options` for Triton: budget, flags, cache, compile processes.
Status complete(SessionOptions& options, const triton::GemmDevice& device, std::size_t gemms);

// The build's row in the store.
store::Build triton_build(const triton::Installation& installation, const tune::Options& options,
                          const std::string& target);

}  // namespace hone::session
