// Session of a command that runs two things side by side: its options, the lease on the device, and
// what compiles, runs and times them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/cpu/machine_state.h"
#include "output/status_line.h"
#include "session/places.h"
#include "session/toolchain.h"
#include "tune/compare/compare.h"
#include "tune/services/session_steps.h"

namespace hone::session {

struct ComparisonSessionOptions {
  ToolchainOptions toolchain;
  tune::CompareOptions compare;  // place: set by the command
  CoreOptions cores;
  std::string device;
  bool trust = false;  // load stored code that others compiled
  bool json = false;
  bool quiet = false;
  bool plain = false;
};

class ComparisonSession {
 public:
  // How much of IREE is needed: its compiler, the runtime's tools, or nothing of it.
  enum class Needs { kCompiler, kTools, kNothing };

  // Leases the place, unless nothing is measured there, and starts what is needed. Sets the flags
  // of `options.compare`. `options` outlive the session. Input error: --find is not above
  // --threshold, or a core may not be used. Environment errors: a lease or IREE is not available.
  static Result<std::unique_ptr<ComparisonSession>> open(ComparisonSessionOptions& options,
                                                         Needs needs, bool measures = true);
  ComparisonSession(const ComparisonSession&) = delete;

  const Toolchain& toolchain() const { return toolchain_; }
  trial::CompileService& compiler() const { return toolchain_.compiler(); }
  const iree::IreeProvider& provider() const { return *provider_; }
  output::StatusLine& status();  // starts with the first call
  tune::CompareContext context();
  // Checks before the first measurement whether the machine is quiet enough.
  Result<tune::MachineCheck> check_machine();

 private:
  ComparisonSession(const ComparisonSessionOptions& options, std::vector<device::LockFile> held,
                    Toolchain toolchain, std::unique_ptr<iree::IreeProvider> provider,
                    std::unique_ptr<provider::Provider> beside, const std::vector<int>& cores);

  const ComparisonSessionOptions& options_;
  std::vector<device::LockFile> held_;
  Toolchain toolchain_;
  std::unique_ptr<iree::IreeProvider> provider_;
  std::unique_ptr<provider::Provider> beside_;  // hone's own kernels, on a CPU
  trial::RunnerService runner_;
  std::optional<output::StatusLine> status_;
  device::cpu::MachineSampler sampler_;
};

}  // namespace hone::session
