#include "provider/iree/iree_provider.h"

#include <algorithm>
#include <iterator>

#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/flag_choices.h"
#include "provider/iree/compiler/runtime_tools.h"
#include "provider/iree/cpu/model.h"
#include "provider/iree/cpu/space.h"
#include "provider/iree/gpu/executable.h"
#include "provider/iree/gpu/space.h"
#include "provider/iree/replaced_executable.h"
#include "provider/iree/spec/tuning_spec.h"

namespace hone::iree {
std::string IreeProvider::why_no_space(const problem::Dispatch& dispatch) const {
  if (gpu_) return why_no_gpu_space(dispatch, *gpu_);
  if (!dispatch.not_tunable.empty()) return dispatch.not_tunable;
  // A rule that is not there is the user's mistake and not the dispatch's.
  const auto space = cpu_space(dispatch, target_);
  return space ? std::string() : space.error().message;
}

Result<space::Space> IreeProvider::space_of(const problem::Dispatch& dispatch) const {
  if (!dispatch.not_tunable.empty())
    return input_error("'{}' cannot be tuned: {}", dispatch.name, dispatch.not_tunable);
  return gpu_ ? gpu_space(dispatch, *gpu_, audited_) : cpu_space(dispatch, target_, audited_);
}

Result<Attributes> IreeProvider::attributes_of(const problem::Dispatch& dispatch,
                                               const space::Space& space,
                                               const space::Configuration& configuration) const {
  if (gpu_) return gpu_attributes(dispatch, *gpu_, space, configuration);
  return cpu_attributes(dispatch, space, configuration);
}

Result<provider::Payload> IreeProvider::payload_of(
    const problem::Dispatch& dispatch, const space::Space& space,
    const space::Configuration& configuration) const {
  HONE_ASSIGN(const Attributes attributes, attributes_of(dispatch, space, configuration));
  return iree::payload_of(attributes);
}

std::function<double(const space::Configuration&)> IreeProvider::prior(
    const problem::Dispatch& dispatch, const space::Space& space) const {
  if (gpu_) return {};
  return llvm_cpu_prior(dispatch.root, target_, space);
}

double IreeProvider::least_seconds(const problem::Dispatch& dispatch,
                                   const device::Peak& peak) const {
  const problem::Operation& root = dispatch.root;
  const bool multiplies = problem::is_contraction(root.kind) ||
                          root.kind == problem::OperationKind::kConvolution ||
                          root.kind == problem::OperationKind::kAttention;
  const bool are_halves = std::ranges::all_of(root.operands, [](const problem::Operand& operand) {
    return operand.output || (problem::is_float(operand.type.element) &&
                              problem::byte_size(operand.type.element) == 2);
  });
  if (!gpu_ || gpu_->backend != problem::GpuBackend::kCuda || !multiplies || !are_halves ||
      peak.matrix_gflops <= 0)
    return 0;
  return problem::flop_count(root) / (peak.matrix_gflops * 1e9);
}

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

Result<std::string> IreeProvider::spec(const std::vector<provider::SpecEntry>& entries) const {
  std::vector<TuningSpecEntry> rows;
  for (const provider::SpecEntry& entry : entries) {
    HONE_ASSIGN(const Attributes attributes, attributes_from(entry.payload));
    rows.push_back({entry.root, attributes.lowering_config, attributes.translation_info,
                    attributes.init_config, attributes.consumer_config, entry.name,
                    attributes.decomposition_config, attributes.sibling_config, entry.surrounding,
                    attributes.surrounding_configs, attributes.interchange, entry.only});
  }
  return tuning_spec_text(rows, fmt::format("Tuning spec made by hone for IREE {} on {}.\n"
                                            "Use: iree-compile {}",
                                            installation_.version, gpu_ ? gpu_->arch : target_.cpu,
                                            spec_flag("THIS_FILE")));
}

bool IreeProvider::same_spec_class(const problem::Operation& a, const problem::Operation& b) const {
  return iree::same_spec_class(a, b);
}

std::string IreeProvider::why_no_entry(const problem::Dispatch& dispatch) const {
  const Status matched = can_match(matched_root(dispatch.root, dispatch.surrounding));
  return matched ? std::string() : matched.error().message;
}

bool IreeProvider::same_in_spec(const provider::Payload& a, const provider::Payload& b) const {
  Result<Attributes> one = attributes_from(a), other = attributes_from(b);
  if (!one || !other) return false;
  for (Attributes* each : {&*one, &*other}) {
    each->statement = -1;
    each->knobs.clear();
    each->options.clear();
  }
  return *one == *other;
}

Result<provider::Payload> IreeProvider::as_compiled(const provider::Payload& payload,
                                                    const provider::Artifact& artifact) const {
  HONE_ASSIGN(Attributes attributes, attributes_from(payload));
  HONE_ASSIGN(const MadeTexts made, made_texts_from(artifact.more));
  attributes.lowering_config = artifact.configured;
  attributes.translation_info = made.translation;
  attributes.decomposition_config = made.decomposition;
  return iree::payload_of(attributes);
}

Result<std::vector<provider::NamedText>> IreeProvider::texts_in_ir(
    const provider::Payload& configured) const {
  HONE_ASSIGN(const Attributes attributes, attributes_from(configured));
  std::vector<provider::NamedText> texts{{"lowering_config", attributes.lowering_config},
                                         {"translation_info", attributes.translation_info}};
  if (!attributes.decomposition_config.empty())
    texts.push_back({"decomposition_config", attributes.decomposition_config});
  return texts;
}

provider::Payload IreeProvider::default_of(const problem::Dispatch& dispatch) const {
  return iree::payload_of({dispatch.default_configuration, dispatch.default_translation});
}

std::string IreeProvider::spec_flag(const std::filesystem::path& file) const {
  // IREE 3.13 ignores the other flag for CUDA without a word.
  const bool cuda = gpu_ && gpu_->backend == problem::GpuBackend::kCuda;
  return (cuda ? "--iree-codegen-transform-dialect-library=" : "--iree-codegen-tuning-spec-path=") +
         file.string();
}

std::optional<std::filesystem::path> IreeProvider::take_spec(
    std::vector<std::string>& flags) const {
  std::optional<std::filesystem::path> spec;
  for (const std::string_view name :
       {"--iree-codegen-transform-dialect-library=", "--iree-codegen-tuning-spec-path="})
    std::erase_if(flags, [&](const std::string& flag) {
      if (!flag.starts_with(name)) return false;
      spec = flag.substr(name.size());
      return true;
    });
  if (!spec) return spec;
  // with_spec() adds more than the flag.
  const std::vector<std::string> added = with_spec({}, *spec);
  std::erase_if(flags,
                [&](const std::string& flag) { return std::ranges::count(added, flag) > 0; });
  return spec;
}

Result<provider::ReplacedExecutable> IreeProvider::replaced(const problem::Dispatch& dispatch,
                                                            const std::string& code,
                                                            const problem::Launch& launch) const {
  return replaced_executable(dispatch, code, launch);
}

Result<provider::ReplacingKernel> IreeProvider::read_replaced(const std::string& text) const {
  return read_replaced_executable(text);
}

std::string IreeProvider::launch_of(const problem::Dispatch& dispatch) const {
  return layout_of(dispatch);
}

std::vector<std::string> IreeProvider::with_replaced(std::vector<std::string> flags,
                                                     const std::filesystem::path& folder) const {
  flags.push_back(replaced_executables_flag(folder));
  return flags;
}

std::vector<std::string> IreeProvider::with_spec(std::vector<std::string> flags,
                                                 const std::filesystem::path& file) const {
  flags.push_back(spec_flag(file));
  // The text of a pass pipeline has no way to write such a path.
  if (file.string().find_first_of("{}") != std::string::npos) return flags;
  // The first dispatch that wants a spec reads it under a lock (IREECodegenLibraryManager.cpp of
  // IREE 3.13). Its verifier then waits for the threads of the compiler, and while it waits it may
  // begin with another dispatch, which wants the lock that it holds itself. What was read once is
  // kept by its path, so a pass that reads it while nothing else runs prevents that.
  const std::string preload = fmt::format(
      "iree-codegen-materialize-tuning-specs{{tuning-spec-path={{{}}}}}", file.string());
  constexpr std::string_view kPipeline = "--iree-preprocessing-pass-pipeline=builtin.module(";
  // The compiler takes the last of several.
  const auto own = std::find_if(flags.rbegin(), flags.rend(), [&](const std::string& flag) {
    return flag.starts_with(kPipeline) && flag.ends_with(')');
  });
  if (own == flags.rend())
    flags.push_back(fmt::format("{}{})", kPipeline, preload));
  else
    own->insert(kPipeline.size(), own->size() == kPipeline.size() + 1 ? preload : preload + ",");
  return flags;
}

std::vector<provider::FlagChoice> IreeProvider::flag_choices(
    const problem::Program& program, const std::vector<std::string>& flags,
    const std::filesystem::path& folder) const {
  return iree::flag_choices(program, flags, gpu_ ? 0 : target_.vector_bits, folder);
}

Result<std::vector<problem::Function>> IreeProvider::functions(
    const std::filesystem::path& module) const {
  HONE_ASSIGN(const std::string dump, dump_module(installation_, module));
  return functions_in_dump(dump);
}

Result<std::vector<provider::UntypedFunction>> IreeProvider::untyped_functions(
    const std::filesystem::path& module) const {
  HONE_ASSIGN(const std::string dump, dump_module(installation_, module));
  return untyped_in_dump(dump);
}

bool IreeProvider::is_harmless_flag(std::string_view name) const {
  // Each takes a number, a word or a list of features, which name no file and no program.
  static constexpr std::string_view kHarmless[] = {"--iree-cuda-target",
                                                   "--iree-hal-local-target-device-backends",
                                                   "--iree-hal-target-backends",
                                                   "--iree-hal-target-device",
                                                   "--iree-llvmcpu-mlir-opt-level",
                                                   "--iree-llvmcpu-target-cpu",
                                                   "--iree-llvmcpu-target-cpu-features",
                                                   "--iree-rocm-target"};
  return std::ranges::find(kHarmless, name) != std::end(kHarmless) || is_plain_choice(name);
}

bool IreeProvider::names_the_device(std::string_view flag) const {
  return flag.starts_with("--iree-hal-");
}

std::optional<std::string> IreeProvider::device_code(std::string_view module,
                                                     const std::string& entry) const {
  auto kernel = kernel_in_module(module, entry);
  if (!kernel) return std::nullopt;
  return std::move(kernel->code);
}

Result<std::vector<problem::Array>> IreeProvider::run_program(const provider::ProgramCall& call,
                                                              std::size_t results) const {
  return run_module(installation_, call, results);
}

Result<double> IreeProvider::time_program(const provider::ProgramCall& call, double seconds) const {
  return benchmark_module(installation_, call, seconds);
}

provider::ProgramTimer IreeProvider::program_timer() const {
  return [programs = std::make_shared<ResidentPrograms>(installation_)](
             const provider::ProgramCall& call, double seconds) {
    return programs->time(call, seconds);
  };
}

Result<provider::ProgramTimes> IreeProvider::kernel_times(const provider::ProgramCall& call,
                                                          double seconds) const {
  return kernel_times_in_module(installation_, call, seconds);
}

std::string IreeProvider::reason_in(std::string_view message) const {
  return reason_in_program(message);
}

Result<std::string> IreeProvider::proof_script(const provider::ProofScript& request) const {
  return iree::proof_script(request);
}

Result<double> IreeProvider::time_artifact(const provider::ArtifactCall& call,
                                           double seconds) const {
  return benchmark_executable(installation_, call, seconds);
}

}  // namespace hone::iree
