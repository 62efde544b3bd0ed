// Programs that IREE compiled, under IREE's own runtime tools.
#pragma once

#include "provider/iree/compiler/library.h"
#include "provider/program_runtime.h"

namespace hone::iree {

class IreeRuntime final : public provider::ProgramRuntime {
 public:
  explicit IreeRuntime(Installation installation) : installation_(std::move(installation)) {}

  Result<provider::ModuleFunctions> functions(const std::filesystem::path& module) const override;
  std::optional<std::string> device_code(std::string_view module,
                                         const std::string& entry) const override;
  Result<std::vector<problem::Array>> run(const provider::ProgramCall& call,
                                          std::size_t results) const override;
  provider::ProgramTimer timer() const override;
  // For CPUs only; the runtime's kernel times on GPUs were not tried.
  provider::KernelTimer kernel_timer(const device::Address& device) const override;
  Result<double> time_artifact(const provider::ArtifactCall& call, double seconds) const override;

 private:
  Installation installation_;
};

}  // namespace hone::iree
