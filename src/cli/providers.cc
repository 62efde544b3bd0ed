#include "cli/providers.h"

#include "cli/assembling_worker.h"
#include "device/cpu/kind.h"
#include "device/cuda/cublaslt.h"
#include "device/cuda/kind.h"
#include "provider/external/compile_worker.h"
#include "provider/iree/compile_worker.h"
#include "provider/library/onednn.h"
#include "provider/library/openblas.h"

namespace hone::cli {
namespace {

struct CompileWorkerOf {
  std::string_view provider;
  Result<std::unique_ptr<provider::CompileWorker>> (*open)(const std::string& installation);
};

// Those whose compiler is a library that this program opens. One that is a program of its own
// (Triton's, in Python) is started by `hone worker exec`.
constexpr CompileWorkerOf kCompileWorkers[] = {
    {"iree", iree::open_compile_worker},
    {"external", external::open_compile_worker},
};

// In the order in which they are shown.
constexpr device::DeviceKind (*kDeviceKinds[])() = {
    device::cpu::kind,
    device::cuda::kind,
};

// Those beside which candidates are measured, in the order of the tables' columns.
constexpr std::unique_ptr<device::Library> (*kLibraries[])() = {
    library::openblas,
    library::onednn,
    device::cuda::cublaslt,
};

std::vector<output::LibraryColumn> library_columns(bool on_cores) {
  std::vector<output::LibraryColumn> columns;
  for (const auto& library : libraries())
    if ((library->device_kind() == device::kHostKind) == on_cores)
      columns.push_back({std::string(library->name()), std::string(library->title())});
  return columns;
}

}  // namespace

Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(
    std::string_view name, const std::string& installation) {
  for (const CompileWorkerOf& each : kCompileWorkers)
    if (each.provider == name) {
      HONE_ASSIGN(auto worker, each.open(installation));
      return assembling(std::move(worker));
    }
  return input_error("there is no provider '{}' with compile workers in this program", name);
}

std::vector<device::DeviceKind> device_kinds() {
  std::vector<device::DeviceKind> kinds;
  for (const auto kind : kDeviceKinds) kinds.push_back(kind());
  return kinds;
}

std::vector<std::unique_ptr<device::Library>> libraries() {
  std::vector<std::unique_ptr<device::Library>> made;
  for (const auto make : kLibraries) made.push_back(make());
  return made;
}

std::vector<output::LibraryColumn> core_library_columns() {
  return library_columns(true);
}

std::vector<output::LibraryColumn> gpu_library_columns() {
  return library_columns(false);
}

}  // namespace hone::cli
