#include "provider/iree/compiler/iree_runtime.h"

#include <memory>

#include "provider/iree/compiler/runtime_tools.h"

namespace hone::iree {

Result<provider::ModuleFunctions> IreeRuntime::functions(
    const std::filesystem::path& module) const {
  HONE_ASSIGN(const std::string dump, dump_module(installation_, module));
  return provider::ModuleFunctions{functions_in_dump(dump), untyped_in_dump(dump)};
}

Result<std::vector<problem::Array>> IreeRuntime::run(const provider::ProgramCall& call,
                                                     std::size_t results) const {
  return run_module(installation_, call, results);
}

provider::ProgramTimers IreeRuntime::timers(const device::Address& device) const {
  provider::ProgramTimers timers;
  const auto programs = std::make_shared<ResidentPrograms>(installation_);
  timers.programs = [programs](const provider::ProgramCall& call, double seconds) {
    return programs->time(call, seconds);
  };
  if (device.index)
    timers.calls = [programs](const provider::ProgramCall& call, std::size_t results) {
      return programs->run(call, results);
    };
  timers.short_calls_vary = !device.index;  // several threads share them
  if (!device.index)
    timers.kernels = [this](const provider::ProgramCall& call, double seconds) {
      return kernel_times_in_module(installation_, call, seconds);
    };
  return timers;
}

Result<double> IreeRuntime::time_artifact(const provider::ArtifactCall& call,
                                          double seconds) const {
  return benchmark_executable(installation_, call, seconds);
}

}  // namespace hone::iree
