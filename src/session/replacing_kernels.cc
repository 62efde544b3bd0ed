#include "session/replacing_kernels.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "problem/code_target.h"
#include "provider/external/compile_worker.h"
#include "provider/external/external_provider.h"
#include "provider/iree/vector/vector_provider.h"
#include "provider/triton/listed_gemms.h"
#include "provider/triton/triton_provider.h"

namespace hone::session {
namespace {

tl::unexpected<Error> configurations_are_irees(const std::string& option) {
  return input_error("{}: configurations that are given by hand (--config) are IREE's own", option);
}

// Returns an input error that names `option`, if this session cannot use replacing kernels.
Status check_asked(const SessionOptions& options, const std::string& option, bool fits) {
  if (!fits)
    return input_error(
        "{}: such kernels replace IREE's on GPUs only; give --device cuda:0 or hip:0, or "
        "--compile-only and --target sm_90",
        option);
  if (!options.tuning.configurations.empty()) return configurations_are_irees(option);
  return {};
}

// Checks that kernels can replace dispatches: such a kernel gets the parameters of the dispatch's
// launch, and memory that nothing has zeroed.
Status check_fits_dispatches(const std::vector<external::ExternalKernel>& kernels) {
  for (const external::ExternalKernel& kernel : kernels) {
    std::string object;
    if (!kernel.object.empty()) {
      HONE_ASSIGN(object, read_file(kernel.object.string()));
    }
    if (const auto target = problem::code_target(object))
      return input_error(
          "{}:{}: object: this is machine code for {}, which cannot be given the name and the "
          "parameters of a dispatch; hone spec external places it",
          kernel.manifest, kernel.object_line, *target);
    if (!kernel.zeroed.empty())
      return input_error(
          "{}:{}: zeroed: hone does not zero the result of a replacing kernel; hone spec external "
          "does",
          kernel.manifest, kernel.zeroed.front().line);
  }
  return {};
}

// Returns the tools of --external, without Triton.
Result<ReplacingTools> tools_for(const SessionOptions& options, const triton::GemmDevice& device,
                                 const std::string& target) {
  HONE_ASSIGN(std::vector<external::ExternalKernel> kernels,
              read_external_kernels(options.external));
  HONE_TRY(check_fits_dispatches(kernels));
  return ReplacingTools{{}, std::move(kernels), device, target};
}

}  // namespace

Result<std::vector<external::ExternalKernel>> read_external_kernels(
    const std::vector<std::string>& paths) {
  std::vector<external::ExternalKernel> kernels;
  std::set<std::string> names;
  for (const std::string& path : paths) {
    HONE_ASSIGN(external::ExternalKernel kernel, external::read_external_kernel(path));
    if (!names.insert(kernel.name()).second)
      return input_error(
          "--external {}: two manifests are called '{}', and results are kept by that name; rename "
          "one",
          path, kernel.name());
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

Result<ReplacingTools> find_replacing(const SessionOptions& options,
                                      std::vector<std::string>& notes) {
  ReplacingTools tools;
  const bool asked = options.names_provider("triton");
  if (!options.searches) return tools;
  const device::Facts& facts = options.tuning.place().facts;
  const Result<triton::GemmDevice> device = triton::gemm_device_of(facts);
  const bool fits = options.tuning.traits().own_memory && device;
  if (!options.external.empty()) HONE_TRY(check_asked(options, "--external", fits));
  if (asked) HONE_TRY(check_asked(options, "--provider iree,triton", fits));
  const bool on_cores = options.tuning.traits().runs_on_host;
  const bool given = !options.tuning.configurations.empty();
  const bool asked_vector = options.names_provider(iree::kVectorProvider);
  if (asked_vector && !on_cores)
    return input_error("--provider iree,vector: hone's own kernels are for CPUs; on a GPU, triton");
  if (asked_vector && given) return configurations_are_irees("--provider iree,vector");
  // Rules that are audited are of IREE's spaces.
  if (on_cores && !given && options.toolchain.audited_rule.empty() &&
      (asked_vector || options.providers.empty())) {
    HONE_ASSIGN(tools.cpu, host_cpu(options.toolchain));
    tools.cpu->cores = std::max(1, static_cast<int>(options.tuning.place().address.cores.size()));
    return tools;
  }
  // Configurations given with --config are IREE's.
  if (!fits || given) return tools;
  HONE_ASSIGN(tools, tools_for(options, *device, facts.target));
  if (!asked && !options.providers.empty()) return tools;
  auto installation = triton::find_installation(options.gemms.triton);
  if (installation)
    tools.triton = std::move(*installation);
  else if (asked || !options.gemms.triton.empty())
    return tl::unexpected(installation.error());
  else
    notes.push_back("tuning IREE's kernels only, without Triton's: " +
                    installation.error().message);
  return tools;
}

Result<ReplacingTools> find_replacing_for(const SessionOptions& options,
                                          const std::string& target) {
  if (options.external.empty()) return ReplacingTools();
  const Result<triton::GemmDevice> device = triton::gemm_device(target);
  HONE_TRY(check_asked(options, "--external", device.has_value()));
  return tools_for(options, *device, target);
}

Result<std::vector<std::unique_ptr<provider::Provider>>> replacing_providers(
    const std::vector<std::string>& manifests, const std::optional<problem::GpuTarget>& gpu) {
  HONE_ASSIGN(std::vector<external::ExternalKernel> kernels, read_external_kernels(manifests));
  std::vector<std::unique_ptr<provider::Provider>> providers;
  if (gpu)
    if (const auto device = triton::gemm_device(gpu->arch))
      providers.push_back(std::make_unique<triton::ReplacingProvider>(*device, ""));
  if (!gpu) providers.push_back(std::make_unique<iree::VectorProvider>(problem::CpuTarget()));
  const std::int64_t shared_bytes = gpu ? gpu->workgroup_memory_bytes : 0;
  for (external::ExternalKernel& kernel : kernels)
    providers.push_back(
        std::make_unique<external::ExternalProvider>(std::move(kernel), shared_bytes));
  return providers;
}

Result<std::vector<Replacing>> start_replacing(const ReplacingTools& tools,
                                               const ToolchainOptions& options,
                                               const Toolchain& toolchain) {
  std::vector<Replacing> replacing;
  const auto add = [&](std::unique_ptr<provider::Provider> provider,
                       std::unique_ptr<worker::WorkerPool> workers,
                       std::vector<std::string> flags) {
    toolchain.compiler().add_replacing(std::string(provider->name()), *workers, std::move(flags));
    replacing.push_back({std::move(provider), std::move(workers)});
  };
  if (tools.cpu) {
    toolchain.compiler().add_replacing(std::string(iree::kVectorProvider));
    replacing.push_back({std::make_unique<iree::VectorProvider>(*tools.cpu), nullptr});
  }
  if (tools.triton) {
    HONE_ASSIGN(const provider::WorkerProgram program,
                triton::worker_program(*tools.triton, std::filesystem::temp_directory_path()));
    HONE_ASSIGN(auto workers, start_program_workers(program, options, toolchain.stop_fd(),
                                                    toolchain.temporary()));
    add(std::make_unique<triton::ReplacingProvider>(tools.device, tools.triton->version),
        std::move(workers), triton::worker_flags(tools.device));
  }
  for (const external::ExternalKernel& kernel : tools.kernels) {
    HONE_ASSIGN(auto workers, start_compile_workers("external", kernel.manifest, options,
                                                    toolchain.stop_fd(), toolchain.temporary()));
    add(std::make_unique<external::ExternalProvider>(kernel, tools.device.shared_bytes),
        std::move(workers), external::worker_flags(tools.target, tools.device.shared_bytes));
  }
  return replacing;
}

}  // namespace hone::session
