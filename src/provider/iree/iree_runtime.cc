#include "provider/iree/iree_runtime.h"

#include "provider/iree/compiler/resident_programs.h"
#include "provider/iree/compiler/runtime_tools.h"
#include "provider/iree/gpu/executable.h"

namespace hone::iree {

Result<provider::ModuleFunctions> IreeRuntime::functions(
    const std::filesystem::path& module) const {
  HONE_ASSIGN(const std::string dump, dump_module(installation_, module));
  return provider::ModuleFunctions{functions_in_dump(dump), untyped_in_dump(dump)};
}

std::optional<std::string> IreeRuntime::device_code(std::string_view module,
                                                    const std::string& entry) const {
  auto kernel = kernel_in_module(module, entry);
  if (!kernel) return std::nullopt;
  return std::move(kernel->code);
}

Result<std::vector<problem::Array>> IreeRuntime::run(const provider::ProgramCall& call,
                                                     std::size_t results) const {
  return run_module(installation_, call, results);
}

provider::ProgramTimer IreeRuntime::timer() const {
  return [programs = std::make_shared<ResidentPrograms>(installation_)](
             const provider::ProgramCall& call, double seconds) {
    return programs->time(call, seconds);
  };
}

provider::KernelTimer IreeRuntime::kernel_timer(const device::Address& device) const {
  if (device.index) return {};
  return [this](const provider::ProgramCall& call, double seconds) {
    return kernel_times_in_module(installation_, call, seconds);
  };
}

Result<double> IreeRuntime::time_artifact(const provider::ArtifactCall& call,
                                          double seconds) const {
  return benchmark_executable(installation_, call, seconds);
}

}  // namespace hone::iree
