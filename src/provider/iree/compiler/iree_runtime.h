// IREE's runtime on this machine as a ProgramRuntime: its tools, and processes that stay.
#pragma once

#include <utility>

#include "provider/iree/compiler/library.h"
#include "provider/program_runtime.h"

namespace hone::iree {

class IreeRuntime final : public provider::ProgramRuntime {
 public:
  explicit IreeRuntime(Installation installation) : installation_(std::move(installation)) {}

  Result<provider::ModuleFunctions> functions(const std::filesystem::path& module) const override;
  Result<std::vector<problem::Array>> run(const provider::ProgramCall& call,
                                          std::size_t results) const override;
  // Kernels are timed on CPUs only; the runtime's kernel times on GPUs were not tried.
  provider::ProgramTimers timers(const device::Address& device) const override;
  Result<double> time_artifact(const provider::ArtifactCall& call, double seconds) const override;

 private:
  Installation installation_;
};

}  // namespace hone::iree
