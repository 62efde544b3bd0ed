#include "provider/iree/program/prepared_dispatch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "provider/iree/compiler/compile_reason.h"
#include "provider/iree/compiler/sizes.h"
#include "provider/iree/gpu/constraint_reader.h"
#include "provider/iree/gpu/executable.h"
#include "provider/iree/gpu/stated_knobs.h"
#include "provider/iree/program/dispatch_ir.h"
#include "provider/iree/program/program.h"
#include "provider/iree/program/root_operation.h"
#include "provider/iree/program/stand_alone.h"
#include "provider/iree/program/surrounding_operations.h"
#include "provider/resources.h"

namespace hone::iree {
namespace {

using provider::Artifact;
using provider::Failure;
using provider::FailureKind;

tl::unexpected<Failure> fail(FailureKind kind, std::string message) {
  return tl::unexpected(Failure{kind, std::move(message)});
}

// Makes a compile error from the compiler's diagnostics. `what`: the step that failed, for a
// compiler that says nothing.
tl::unexpected<Failure> compile_error(const Invocation& invocation, std::string_view what) {
  const std::string words = invocation.diagnostics();
  return fail(FailureKind::kCompileError,
              words.empty() ? fmt::format("IREE's compiler failed to {} and did not say why", what)
                            : with_reason(words));
}

// Seconds since the last call.
class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The second string of #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", ...>.
std::string target_format(const std::string& target) {
  std::size_t at = 0;
  for (int quotes = 0; quotes < 3; ++quotes) {
    at = target.find('"', at);
    if (at == std::string::npos) return {};
    ++at;
  }
  return target.substr(at, target.find('"', at) - at);
}

// Launch of the compiled export; nothing if the program's launch values do not determine its grid.
std::optional<provider::Launch> launch_of(const Ir& ir, MlirOperation export_operation,
                                          const LaunchValues& values) {
  provider::Launch launch;
  launch.constants = values.constants;
  launch.entry = ir.symbol(export_operation);
  launch.ordinal =
      static_cast<int>(ir.integer_value(ir.attribute(export_operation, "ordinal")).value_or(0));
  launch.shared_bytes = static_cast<std::uint32_t>(
      ir.integer_value(ir.attribute(export_operation, "workgroup_local_memory")).value_or(0));
  const auto block = ir.elements(ir.attribute(export_operation, "workgroup_size"));
  for (std::size_t i = 0; i < block.size() && i < launch.block.size(); ++i)
    launch.block[i] = static_cast<std::uint32_t>(ir.integer_value(block[i]).value_or(1));
  const auto returns = ir.children(export_operation, "hal.return");
  if (returns.empty()) return std::nullopt;
  const Sizes sizes = count_sizes(ir, export_operation, values.workload);
  const std::vector<MlirValue> counts = ir.operands(returns.front());
  for (std::size_t i = 0; i < counts.size() && i < launch.grid.size(); ++i) {
    const auto count = sizes.integer(counts[i]);
    if (!count) return std::nullopt;
    launch.grid[i] = static_cast<std::uint32_t>(*count);
  }
  return launch;
}

// The compiler's attribute for a configuration: what a tuning spec annotates a root operation with.
std::string compilation_info(const Attributes& configuration) {
  return fmt::format("#iree_codegen.compilation_info<lowering_config = {}, translation_info = {}>",
                     configuration.lowering_config, configuration.translation_info);
}

// A copy of a prepared dispatch on its way to code.
class Candidate {
 public:
  using Step = tl::expected<void, Failure>;

  // `from_configured`: the candidate replaces what the compiler configured.
  Candidate(const CompilerSession& session, const DispatchIr& dispatch, bool for_gpu,
            bool from_configured)
      : session_(session),
        dispatch_(dispatch),
        ir_(session.api()),
        invocation_(session),
        for_gpu_(for_gpu),
        from_configured_(from_configured) {
    OwnedModule copy = from_configured ? dispatch.configured.clone() : dispatch.module.clone();
    module_ = copy.get();
    imported_ = invocation_.import(std::move(copy));
  }

  // Up to executable-configurations; checks that the configuration is there.
  Step configure(const std::optional<Attributes>& wanted, Artifact& artifact) {
    if (!imported_) return compile_error(invocation_, "read the dispatch");
    export_ = exports_in(ir_, module_).at(0);
    if (wanted) HONE_TRY(annotate(*wanted));
    if (!from_configured_ && !invocation_.run(kExecutableSources, kExecutableConfigurations))
      return compile_error(invocation_, "configure the dispatch");
    const MlirOperation function = function_of(ir_, export_);
    for (const MlirOperation constraints : constraint_operations(ir_, function))
      session_.api().mlirOperationDestroy(constraints);
    const Attributes got = configuration_of(ir_, function, configured_root(ir_, function));
    artifact.configured = got.lowering_config;
    artifact.more = MadeTexts().to_payload();
    if (!wanted) return {};
    artifact.configured = ir_.text(lowering_);
    artifact.more = MadeTexts{ir_.text(translation_), ir_.text(decomposition_)}.to_payload();
    if (carries(function, "translation_info", translation_) && is_configured(function)) return {};
    return fail(FailureKind::kNotApplied,
                fmt::format("the compiler configured '{}' and '{}' instead", got.lowering_config,
                            got.translation_info));
  }

  // Up to executable-targets, where the export says how it is launched.
  Step translate(Artifact& artifact) {
    // Verification of passes only finds the compiler's own mistakes and takes a sixth of the time
    // on GPUs. The result is run and checked anyway. On a CPU, verification also ends candidates
    // that would otherwise compile for minutes.
    if (for_gpu_) invocation_.verify_passes(false);
    if (!invocation_.run(kExecutableConfigurations, kExecutableTargets))
      return compile_error(invocation_, "translate the dispatch");
    const MlirOperation variant = session_.api().mlirOperationGetParentOperation(export_);
    artifact.format = target_format(ir_.text(ir_.attribute(variant, "target")));
    const auto launch = launch_of(ir_, export_, launch_values(ir_, dispatch_.export_operation));
    if (!launch)
      return fail(FailureKind::kCompileError,
                  "the number of workgroups is known only at run time; hone launches static grids");
    artifact.launch = *launch;
    return {};
  }

  Step serialize(Artifact& artifact) {
    if (!invocation_.run(kExecutableTargets, kHal))
      return compile_error(invocation_, "generate code");
    auto code = invocation_.executable();
    if (!code) return fail(FailureKind::kCompileError, code.error().message);
    artifact.code = std::move(*code);
    if (artifact.format == "cuda-nvptx-fb" || artifact.format == "rocm-hsaco-fb")
      return unwrap(artifact);
    return {};
  }

 private:
  // A GPU's kernel is taken out of IREE's container, since it is launched without IREE's runtime.
  static Step unwrap(Artifact& artifact) {
    auto kernel = gpu_kernel(artifact.code, artifact.launch.ordinal);
    if (!kernel) return fail(FailureKind::kCompileError, kernel.error().message);
    if (kernel->block != artifact.launch.block)
      return fail(
          FailureKind::kCompileError,
          fmt::format("the code is for workgroups of {} and its export for {}",
                      fmt::join(kernel->block, "x"), fmt::join(artifact.launch.block, "x")));
    if (kernel->constants != artifact.launch.constants.size())
      return fail(FailureKind::kCompileError,
                  fmt::format("the code reads {} constants and the program's launch has {}",
                              kernel->constants, artifact.launch.constants.size()));
    artifact.format = std::move(kernel->format);
    artifact.code = std::move(kernel->code);
    artifact.launch.entry = std::move(kernel->entry);
    // LDS is part of an AMD code object; only CUDA's is asked for at the launch.
    artifact.launch.shared_bytes = artifact.format == provider::kCudaPtx ? kernel->shared_bytes : 0;
    return {};
  }

  // Sets the root operation's compilation_info, as a tuning spec does.
  Step annotate(const Attributes& wanted) {
    if (!dispatch_.root)
      return fail(FailureKind::kNotApplied, "the dispatch has no root operation to configure");
    MlirAttribute info;
    HONE_TRY(wanted.statement >= 0 ? materialise(wanted, info) : parse(wanted, info));
    const MlirOperation function = function_of(ir_, export_);
    const MlirOperation root = from_configured_ ? configured_root(ir_, function)
                                                : same_location(ir_, function, dispatch_.root);
    if (!wanted.interchange.empty() && !interchange_loops(ir_, root, wanted.interchange))
      return fail(FailureKind::kNotApplied, "the root operation's loops cannot be interchanged");
    if (from_configured_) {
      // Layouts that the compiler chose for its own configuration.
      for (const MlirOperation operation : structured_operations(ir_, function))
        if (ir_.attribute(operation, "lowering_config"))
          ir_.remove_attribute(operation, "lowering_config");
      ir_.set_attribute(root, "lowering_config", lowering_);
      ir_.set_attribute(function, "translation_info", translation_);
    } else {
      ir_.set_attribute(root, "compilation_info", info);
    }
    if (decomposition_) ir_.set_attribute(root, "decomposition_config", decomposition_);
    HONE_TRY(annotate_siblings(wanted, function, root));
    if (!wanted.surrounding_configs.empty()) HONE_TRY(annotate_found(wanted, function, root));
    return annotate_surrounding(wanted, function, root);
  }

  // Gives each neighbour its own configuration.
  Step annotate_found(const Attributes& wanted, MlirOperation function, MlirOperation root) {
    const std::vector<FoundSurrounding> found = find_surrounding(ir_, function, root);
    if (found.size() != wanted.surrounding_configs.size())
      return fail(FailureKind::kNotApplied,
                  fmt::format("the dispatch has {} operations beside its root and the "
                              "configuration is for {}",
                              found.size(), wanted.surrounding_configs.size()));
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!wanted.surrounding_configs[i].empty())
        HONE_TRY(set_lowering_config(found[i].operation, wanted.surrounding_configs[i]));
    return {};
  }

  // Gives the other operations with the root's loops the layout that the root has.
  Step annotate_siblings(const Attributes& wanted, MlirOperation function, MlirOperation root) {
    if (wanted.sibling_config.empty()) return {};
    const auto described_root = describe_operation(ir_, root);
    std::vector<MlirOperation> reduced{root};
    for (const MlirOperation operation : structured_operations(ir_, function)) {
      const auto described = describe_operation(ir_, operation);
      if (operation == root || !described || !described_root ||
          described->loops.size() != described_root->loops.size())
        continue;
      const bool reduces = std::ranges::any_of(described->loops, &problem::Loop::reduction);
      const bool reads = std::ranges::any_of(
          reduced, [&](MlirOperation each) { return ir_.reads(operation, each); });
      if (reduces) reduced.push_back(operation);
      if (!reduces && !reads) continue;
      HONE_TRY(set_lowering_config(
          operation, reduces ? wanted.sibling_reduction_config : wanted.sibling_config));
    }
    return {};
  }

  Step parse(const Attributes& wanted, MlirAttribute& info) {
    HONE_TRY(parse(wanted.lowering_config, "lowering_config", lowering_));
    HONE_TRY(parse(wanted.translation_info, "translation_info", translation_));
    HONE_TRY(parse(compilation_info(wanted), "configuration", info));
    if (wanted.decomposition_config.empty()) return {};
    return parse(wanted.decomposition_config, "decomposition_config", decomposition_);
  }

  Step parse(const std::string& text, std::string_view what, MlirAttribute& parsed) {
    parsed = ir_.parse_attribute(session_.context(), text);
    if (parsed) return {};
    return compile_error(invocation_, fmt::format("read the {}", what));
  }

  // Lets the compiler make the attributes of the knobs' values.
  Step materialise(const Attributes& wanted, MlirAttribute& info) {
    const MlirOperation function =
        function_of(ir_, exports_in(ir_, dispatch_.configured.get()).at(0));
    const std::vector<MlirOperation> stated = constraint_operations(ir_, function);
    const auto which = static_cast<std::size_t>(wanted.statement);
    if (which >= stated.size())
      return fail(FailureKind::kNotApplied, "the compiler states no such constraints");
    auto made = materialised(ir_, stated[which], "compilation_info", wanted.knobs);
    if (!made) return fail(FailureKind::kCompileError, made.error().message);
    info = *made;
    const auto parts = session_.api().ireeCodegenCompilationInfoAttrGetParameters(info);
    lowering_ = parts.lowering_config;
    translation_ = parts.translation_info;
    if (!wanted.options.empty()) {
      translation_ = with_own_knobs(ir_, session_.context(), translation_, wanted.options);
      if (!translation_)
        return compile_error(invocation_, "add hone's own knobs to the translation_info");
      HONE_TRY(parse(compilation_info({ir_.text(lowering_), ir_.text(translation_)}),
                     "configuration", info));
    }
    if (!has_decomposition(ir_, stated[which])) return {};
    auto decomposition = materialised(ir_, stated[which], "decomposition_config", wanted.knobs);
    if (!decomposition) return fail(FailureKind::kCompileError, decomposition.error().message);
    decomposition_ = *decomposition;
    return {};
  }

  // Gives the operations next to the root the configurations that the root's needs there: the fill
  // that defines its output operand and the structured operations that read its result, as the
  // spec does (tuning_spec.cc).
  Step annotate_surrounding(const Attributes& wanted, MlirOperation function, MlirOperation root) {
    const std::vector<MlirValue> operands = ir_.operands(root);
    if (!wanted.init_config.empty() && !operands.empty()) {
      const MlirOperation init = ir_.defining_operation(operands.back());
      if (ir_.is(init, "linalg.fill")) HONE_TRY(set_lowering_config(init, wanted.init_config));
    }
    if (wanted.consumer_config.empty()) return {};
    for (const MlirOperation operation : structured_operations(ir_, function))
      if (ir_.is(operation, "linalg.generic") && ir_.reads(operation, root))
        HONE_TRY(set_lowering_config(operation, wanted.consumer_config));
    return {};
  }

  Step set_lowering_config(MlirOperation operation, const std::string& text) {
    MlirAttribute config;
    HONE_TRY(parse(text, "lowering_config", config));
    ir_.set_attribute(operation, "lowering_config", config);
    return {};
  }

  bool carries(MlirOperation operation, std::string_view name, MlirAttribute wanted) const {
    return wanted && ir_.attribute(operation, name) == wanted;
  }

  bool is_configured(MlirOperation function) const {
    return static_cast<bool>(ir_.find(function, [&](MlirOperation operation) {
      return carries(operation, "lowering_config", lowering_);
    }));
  }

  const CompilerSession& session_;
  const DispatchIr& dispatch_;
  Ir ir_;
  Invocation invocation_;
  MlirOperation module_, export_;
  MlirAttribute lowering_, translation_, decomposition_;
  bool imported_ = false;
  bool for_gpu_ = false;
  bool from_configured_ = false;
};

}  // namespace

struct PreparedDispatch::State {
  CompilerSession session;
  DispatchIr dispatch;
  bool for_gpu = false;
};

PreparedDispatch::PreparedDispatch(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedDispatch::PreparedDispatch(PreparedDispatch&&) noexcept = default;
PreparedDispatch& PreparedDispatch::operator=(PreparedDispatch&&) noexcept = default;
PreparedDispatch::~PreparedDispatch() = default;

Result<PreparedDispatch> PreparedDispatch::create(const Library& library, const std::string& source,
                                                  const std::vector<std::string>& flags) {
  std::vector<std::string> all = flags;
  all.emplace_back(kTunerAttributesFlag);
  if (targets_gpu(flags) && states_constraints(library, "dispatch", source, flags))
    all.emplace_back(kConstraintsFlag);
  HONE_ASSIGN(CompilerSession session, CompilerSession::create(library, all));
  HONE_ASSIGN(DispatchIr dispatch, read_dispatch(session, "dispatch", source));
  return PreparedDispatch(
      std::make_unique<State>(State{std::move(session), std::move(dispatch), targets_gpu(flags)}));
}

const Attributes& PreparedDispatch::default_configuration() const {
  return state_->dispatch.defaults;
}

tl::expected<Artifact, Failure> PreparedDispatch::compile(
    const std::optional<Attributes>& configuration, provider::CompileStages* times) {
  provider::CompileStages spent;
  Stopwatch stopwatch;
  Artifact artifact;
  Candidate candidate(
      state_->session, state_->dispatch, state_->for_gpu,
      configuration && (state_->dispatch.decomposed || state_->dispatch.batch_restored ||
                        !configuration->surrounding_configs.empty()));
  HONE_TRY(candidate.configure(configuration, artifact));
  spent.configure = stopwatch.lap();
  HONE_TRY(candidate.translate(artifact));
  spent.translate = stopwatch.lap();
  HONE_TRY(candidate.serialize(artifact));
  spent.serialize = stopwatch.lap();
  if (times != nullptr) *times = spent;
  return artifact;
}

}  // namespace hone::iree
