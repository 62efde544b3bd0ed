// Triton as a Provider: its installation, spaces of GEMMs, kernels that replace IREE's, and what
// compile workers are told.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "provider/provider.h"
#include "provider/triton/gemm_device.h"
#include "provider/triton/user_kernel.h"

namespace hone::triton {

// Finds the Python in which Triton is installed.
struct TritonInstallation {
  std::filesystem::path python;  // an interpreter that can import it
  std::string version;           // "3.6.0"
};

// Looks for a Python with Triton, in this order: `given` (if not empty: an interpreter or a virtual
// environment); the environment variable HONE_TRITON (the same); python_environments() (where hone
// itself is installed, `.venv`); `python3` on PATH. The first two must have Triton if they are set.
// Starts each interpreter, but imports nothing large. Environment errors: nothing found (says how
// to get it), or a version outside of 3.5 to 3.9. A kernel's launch changes between versions, and
// hone launches kernels itself.
Result<TritonInstallation> find_installation(const std::string& given = {});

// The Python sources that compile workers run: hone's kernels and the worker itself. The files of
// src/provider/triton/kernels and src/provider/triton/python; the worker's is "compile_worker.py".
std::span<const EmbeddedFile> sources();

// Space that candidates come from: hone's own, or that of ROCm's tune_gemm.py (tune_gemm.h).
enum class SpaceKind { kOwn, kTuneGemm, kTuneGemmV2 };

class TritonProvider final : public provider::Provider {
 public:
  // `kernel`: a user's own, instead of hone's; its manifest is the space then.
  TritonProvider(GemmDevice device, SpaceKind kind,
                 std::shared_ptr<const UserKernel> kernel = nullptr)
      : device_(std::move(device)), kind_(kind), kernel_(std::move(kernel)) {}

  std::string_view name() const override { return "triton"; }
  std::string_view constraint_set() const override;
  // The space of a dispatch that dispatch_of(Gemm) or with_kernel() made.
  Result<space::Space> space_of(const problem::Dispatch& dispatch) const override;
  Result<provider::Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                       const space::Configuration& configuration) const override;
  // gemm_model.h
  std::function<double(const space::Configuration&)> prior(
      const problem::Dispatch& dispatch, const space::Space& space) const override;
  // Makes GROUP_M and SPLIT_K constants of the code. During the search they are arguments, so that
  // one compile serves many candidates.
  std::optional<provider::ShippedForm> as_shipped(const provider::Payload& payload) const override;

 private:
  GemmDevice device_;
  SpaceKind kind_;
  std::shared_ptr<const UserKernel> kernel_;
};

// Makes the payload for a worker: {"knobs": {name: value}} (python/compile_worker.py).
provider::Payload payload_of(const std::map<std::string, std::int64_t>& knobs);
// Returns the payload's knobs; knobs that it lacks are absent.
std::map<std::string, std::int64_t> knobs_in(const provider::Payload& payload);

// The command line of a worker of `installation`, given its file (write_sources).
std::vector<std::string> worker_command(const TritonInstallation& installation,
                                        const std::filesystem::path& script);

// Flags of the workers' job "prepare" (python/compile_worker.py).
std::vector<std::string> worker_flags(const GemmDevice& device);

// Names the code of a worker's "compile" job. Jobs that differ only in arguments, or in options
// that the backend does not read, have one name. Jobs of one name have the same code, so that a
// result of one's compile holds for the others (PersistentPoolOptions). Empty for the default.
std::string code_of(const GemmDevice& device, const provider::Payload& payload);

// Writes the sources that a worker runs (sources()) into `folder`. Returns the path of the worker's
// own file.
Result<std::filesystem::path> write_sources(const std::filesystem::path& folder);

// Triton kernels that replace IREE's, for dispatches that state what they compute
// (problem::Dispatch::statement): contractions, convolutions, attention. Makes one kernel for each
// dispatch (python/stated_kernel.py), launched as IREE's is. The kind of the dispatch's statement
// selects the space (stated_spaces.h).
class ReplacingProvider : public provider::Provider {
 public:
  // `version`: of Triton, "3.6.0".
  ReplacingProvider(GemmDevice device, std::string_view version)
      : device_(std::move(device)), name_("triton@" + std::string(version)) {}

  // "triton@3.6.0": another version compiles a configuration to another kernel.
  std::string_view name() const override { return name_; }
  std::string_view constraint_set() const override { return "replacing"; }
  std::string why_no_space(const problem::Dispatch& dispatch) const override;
  Result<space::Space> space_of(const problem::Dispatch& dispatch) const override;
  Result<provider::Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                       const space::Configuration& configuration) const override;
  std::function<double(const space::Configuration&)> prior(
      const problem::Dispatch& dispatch, const space::Space& space) const override;
  // "f32, 64 at a time, in 4 parts".
  std::string summation(const problem::Dispatch& dispatch,
                        const std::optional<provider::Payload>& payload) const override;

 private:
  GemmDevice device_;
  std::string name_;
};

}  // namespace hone::triton
