#include "provider/iree/iree_provider.h"

#include <algorithm>
#include <memory>

#include "provider/iree/compiler/attributes.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/flag_choices.h"
#include "provider/iree/compiler/iree_runtime.h"
#include "provider/iree/compiler/runtime_tools.h"
#include "provider/iree/cpu/model.h"
#include "provider/iree/cpu/space.h"
#include "provider/iree/gpu/executable.h"
#include "provider/iree/gpu/space.h"

namespace hone::iree {
namespace {

Status check_tunable(const problem::Dispatch& dispatch) {
  if (dispatch.not_tunable.empty()) return {};
  return input_error("'{}' cannot be tuned: {}", dispatch.name, dispatch.not_tunable);
}

// Flags that take a number, a word or a list of features, which name no file and no program.
std::vector<std::string> harmless_flags() {
  std::vector<std::string> flags = plain_choices();
  for (const char* flag :
       {"--iree-cuda-target", "--iree-hal-local-target-device-backends",
        "--iree-hal-target-backends", "--iree-hal-target-device", "--iree-llvmcpu-mlir-opt-level",
        "--iree-llvmcpu-target-cpu", "--iree-llvmcpu-target-cpu-features", "--iree-rocm-target"})
    flags.emplace_back(flag);
  return flags;
}

}  // namespace

IreeProvider::IreeProvider(const Installation& installation, std::string target,
                           std::string_view spec_flag, int vector_bits, Runtime runtime)
    : ProgramProvider({.harmless_flags = harmless_flags(),
                       .reason_in = reason_in_program,
                       .proof_script = iree::proof_script}),
      runtime_(runtime ? std::move(runtime) : std::make_shared<IreeRuntime>(installation)),
      specs_(installation.version, std::move(target), spec_flag),
      vector_bits_(vector_bits) {}

std::string IreeProvider::summation(const problem::Dispatch& dispatch,
                                    const std::optional<provider::Payload>& payload) const {
  // The accumulation type of attention is not the result's type and is not known here.
  if (dispatch.root.kind == problem::OperationKind::kAttention) return "";
  std::string configured = dispatch.default_configuration;
  if (payload)
    if (const Result<Attributes> attributes = attributes_from(*payload))
      configured = attributes->lowering_config;
  const auto part = [&](std::string_view begin, char end) {
    const std::size_t at = configured.find(begin);
    if (at == configured.npos) return std::string();
    const std::size_t from = at + begin.size();
    return configured.substr(from, configured.find(end, from) - from);
  };
  const auto output = std::ranges::find(dispatch.root.operands, true, &problem::Operand::output);
  if (output == dispatch.root.operands.end()) return "";
  std::string told(problem::name_of(output->type.element));
  if (const std::string instruction = part("mma_layout<", '>'); !instruction.empty())
    told += ", " + instruction;
  if (const std::string tile = part("reduction = [", ']'); !tile.empty())
    told += fmt::format(", reduction = [{}]", tile);
  return told;
}

bool IreeProvider::names_the_device(std::string_view flag) const {
  return flag.starts_with("--iree-hal-");
}

std::vector<provider::FlagChoice> IreeProvider::flag_choices(
    const problem::Program& program, const std::vector<std::string>& flags,
    const std::filesystem::path& folder) const {
  return iree::flag_choices(program, flags, vector_bits_, folder);
}

std::optional<std::string> IreeProvider::device_code(std::string_view module,
                                                     const std::string& entry) const {
  auto kernel = kernel_in_module(module, entry);
  if (!kernel) return std::nullopt;
  return std::move(kernel->code);
}

CpuIreeProvider::CpuIreeProvider(const Installation& installation, problem::CpuTarget target,
                                 std::string audited, Runtime runtime)
    : IreeProvider(installation, target.cpu, kSpecFlag, target.vector_bits, std::move(runtime)),
      target_(std::move(target)),
      audited_(std::move(audited)) {}

std::string CpuIreeProvider::why_no_space(const problem::Dispatch& dispatch) const {
  if (!dispatch.not_tunable.empty()) return dispatch.not_tunable;
  // A rule that is not there is the user's mistake and not the dispatch's.
  const auto space = cpu_space(dispatch, target_);
  return space ? std::string() : space.error().message;
}

Result<space::Space> CpuIreeProvider::space_of(const problem::Dispatch& dispatch) const {
  HONE_TRY(check_tunable(dispatch));
  return cpu_space(dispatch, target_, audited_);
}

Result<provider::Payload> CpuIreeProvider::payload_of(
    const problem::Dispatch& dispatch, const space::Space& space,
    const space::Configuration& configuration) const {
  HONE_ASSIGN(const Attributes attributes, cpu_attributes(dispatch, space, configuration));
  return iree::payload_of(attributes);
}

std::function<double(const space::Configuration&)> CpuIreeProvider::prior(
    const problem::Dispatch& dispatch, const space::Space& space) const {
  return llvm_cpu_prior(dispatch.root, target_, space);
}

GpuIreeProvider::GpuIreeProvider(const Installation& installation, problem::GpuTarget target,
                                 std::string audited, Runtime runtime)
    : IreeProvider(installation, target.arch,
                   target.backend == problem::GpuBackend::kCuda ? kCudaSpecFlag : kSpecFlag, 0,
                   std::move(runtime)),
      target_(std::move(target)),
      audited_(std::move(audited)) {}

std::string GpuIreeProvider::why_no_space(const problem::Dispatch& dispatch) const {
  return why_no_gpu_space(dispatch, target_);
}

Result<space::Space> GpuIreeProvider::space_of(const problem::Dispatch& dispatch) const {
  HONE_TRY(check_tunable(dispatch));
  return gpu_space(dispatch, target_, audited_);
}

Result<provider::Payload> GpuIreeProvider::payload_of(
    const problem::Dispatch& dispatch, const space::Space& space,
    const space::Configuration& configuration) const {
  HONE_ASSIGN(const Attributes attributes, gpu_attributes(dispatch, target_, space, configuration));
  return iree::payload_of(attributes);
}

double GpuIreeProvider::least_seconds(const problem::Dispatch& dispatch,
                                      const device::Peak& peak) const {
  const problem::Operation& root = dispatch.root;
  const bool multiplies = problem::is_contraction(root.kind) ||
                          root.kind == problem::OperationKind::kConvolution ||
                          root.kind == problem::OperationKind::kAttention;
  const bool are_halves = std::ranges::all_of(root.operands, [](const problem::Operand& operand) {
    return operand.output || (problem::is_float(operand.type.element) &&
                              problem::byte_size(operand.type.element) == 2);
  });
  if (target_.backend != problem::GpuBackend::kCuda || !multiplies || !are_halves ||
      peak.matrix_gflops <= 0)
    return 0;
  return problem::flop_count(root) / (peak.matrix_gflops * 1e9);
}

}  // namespace hone::iree
