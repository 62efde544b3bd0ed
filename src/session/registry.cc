#include "session/registry.h"

#include <filesystem>
#include <utility>

#include "base/ranges.h"
#include "base/stopwatch.h"
#include "device/cpu/kind.h"
#include "device/cuda/cublaslt.h"
#include "device/cuda/kind.h"
#include "device/cuda/toolkit.h"
#include "device/emulated/kind.h"
#include "device/hip/hipblaslt.h"
#include "device/hip/kind.h"
#include "provider/external/compile_worker.h"
#include "provider/iree/compile_worker.h"
#include "provider/library/host_libraries.h"
#include "provider/resources.h"
#include "provider/triton/listed_gemms.h"

namespace hone::session {
namespace {

// Worker that also assembles the PTX that it compiles, if a job names the GPU of its candidates
// ("assemble_for") and this machine has NVIDIA's assembler (device/cuda/toolkit.h). The driver
// would assemble it otherwise, but one kernel at a time and in the runner.
class AssemblingWorker : public provider::CompileWorker {
 public:
  explicit AssemblingWorker(std::unique_ptr<provider::CompileWorker> worker)
      : worker_(std::move(worker)) {}

  Status prepare(provider::jobs::PrepareRequest dispatch) override {
    assemble_for_ = dispatch.assemble_for;
    HONE_TRY(worker_->prepare(std::move(dispatch)));
    if (!assemble_for_.empty()) ptxas_ = device::cuda::find_ptxas().value_or("");
    return {};
  }

  tl::expected<provider::jobs::Compiled, provider::Failure> compile(
      const std::optional<provider::Payload>& payload) override {
    auto compiled = worker_->compile(payload);
    if (!compiled || ptxas_.empty() || compiled->artifact.format != provider::kCudaPtx)
      return compiled;
    const Stopwatch watch;
    auto assembly = device::cuda::assemble(ptxas_, compiled->artifact.code, assemble_for_);
    if (!assembly)
      return tl::unexpected(
          provider::Failure{provider::FailureKind::kCompileError, assembly.error().message});
    compiled->stages.assemble = watch.seconds();
    compiled->artifact.format = provider::kCudaCubin;
    compiled->artifact.code = std::move(assembly->cubin);
    return compiled;
  }

  provider::Outcome once(provider::Message job) override { return worker_->once(std::move(job)); }

 private:
  std::unique_ptr<provider::CompileWorker> worker_;
  std::string assemble_for_;          // the GPU of the dispatch's candidates
  std::filesystem::path ptxas_ = {};  // empty: the driver assembles
};

Result<std::unique_ptr<provider::ListProvider>> listed_gemms(const SessionOptions& options) {
  return triton::listed_gemms(options.gemms, options.tuning.input);
}

// Providers in the order in which they are shown.
constexpr RegisteredProvider kProviders[] = {
    {"iree", "the compiler's own kernels, for programs", iree::open_compile_worker},
    {"triton", "Triton's kernels, for GEMMs or beside IREE's", nullptr, listed_gemms},
    {"vector", "hone's own kernels for CPUs, beside IREE's", nullptr},
    {"external", "your own kernels (--external), beside IREE's", external::open_compile_worker},
};

// Kinds of devices in the order in which they are shown.
constexpr device::DeviceKind (*kDeviceKinds[])() = {
    device::cpu::kind,
    device::cuda::kind,
    device::hip::kind,
};

// Libraries that are measured beside the candidates, in the order of the tables' columns.
constexpr std::unique_ptr<device::Library> (*kLibraries[])() = {
    library::openblas,
    library::onednn,
    device::cuda::cublaslt,
    device::hip::hipblaslt,
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
  const RegisteredProvider* const found = find_provider(name);
  if (found == nullptr || found->open_compile_worker == nullptr)
    return input_error("there is no provider '{}' with compile workers in this program", name);
  HONE_ASSIGN(auto worker, found->open_compile_worker(installation));
  return std::make_unique<AssemblingWorker>(std::move(worker));
}

std::span<const RegisteredProvider> providers() {
  return kProviders;
}

const RegisteredProvider* find_provider(std::string_view name) {
  return find_by(kProviders, name, &RegisteredProvider::name);
}

std::vector<device::DeviceKind> device_kinds() {
  return mapped(kDeviceKinds, [](const auto kind) { return kind(); });
}

std::vector<device::DeviceKind> runner_device_kinds() {
  std::vector<device::DeviceKind> kinds = device_kinds();
  kinds.push_back(device::emulated::kind());
  return kinds;
}

std::vector<std::unique_ptr<device::Library>> libraries() {
  return mapped(kLibraries, [](const auto make) { return make(); });
}

std::vector<output::LibraryColumn> core_library_columns() {
  return library_columns(true);
}

std::vector<output::LibraryColumn> gpu_library_columns() {
  return library_columns(false);
}

}  // namespace hone::session
