#include "provider/iree/program/prepared_dispatch.h"

#include <chrono>
#include <utility>

#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/sizes.h"
#include "provider/iree/gpu/constraint_reader.h"
#include "provider/iree/gpu/executable.h"
#include "provider/iree/program/derived_modules.h"
#include "provider/iree/program/dispatch_ir.h"
#include "provider/iree/program/program.h"
#include "provider/iree/program/root_configuration.h"
#include "provider/resources.h"

namespace hone::iree {
namespace {

using provider::Artifact;
using provider::Failure;
using provider::FailureKind;

tl::unexpected<Failure> fail(FailureKind kind, std::string message) {
  return tl::unexpected(Failure{kind, std::move(message)});
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

// A copy of a prepared dispatch on its way to code.
class Candidate {
 public:
  using Step = tl::expected<void, Failure>;

  // `module`: of the dispatch, or of another executable in its place. `from_configured`: it is what
  // the compiler configured.
  Candidate(const CompilerSession& session, const DispatchIr& dispatch, OwnedModule module,
            bool for_gpu, bool from_configured = false)
      : session_(session),
        dispatch_(dispatch),
        ir_(session.api()),
        invocation_(session),
        root_(session, dispatch, ir_, invocation_, from_configured),
        for_gpu_(for_gpu),
        from_configured_(from_configured),
        module_(module.get()),
        imported_(invocation_.import(std::move(module))) {}

  // Up to executable-configurations.
  Step reach_configurations() {
    if (!imported_) return compile_error(invocation_, "read the dispatch");
    export_ = exports_in(ir_, module_).at(0);
    return configure_all();
  }

  // Likewise; checks that the configuration is there.
  Step configure(const std::optional<Attributes>& wanted, Artifact& artifact) {
    if (!imported_) return compile_error(invocation_, "read the dispatch");
    export_ = exports_in(ir_, module_).at(0);
    if (wanted) HONE_TRY(root_.annotate(export_, *wanted));
    HONE_TRY(configure_all());
    const MlirOperation function = function_of(ir_, export_);
    for (const MlirOperation constraints : constraint_operations(ir_, function))
      session_.api().mlirOperationDestroy(constraints);
    const Attributes got = configuration_of(ir_, function, configured_root(ir_, function));
    artifact.configured = got.lowering_config;
    artifact.more = MadeTexts().to_payload();
    if (!wanted) return {};
    artifact.configured = root_.lowering_config();
    artifact.more = root_.made_texts().to_payload();
    if (root_.is_configured(function)) return {};
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
  Step configure_all() {
    if (!from_configured_ && !invocation_.run(kExecutableSources, kExecutableConfigurations))
      return compile_error(invocation_, "configure the dispatch");
    return {};
  }

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

  const CompilerSession& session_;
  const DispatchIr& dispatch_;
  Ir ir_;
  Invocation invocation_;
  RootConfiguration root_;
  bool for_gpu_ = false;
  bool from_configured_ = false;
  MlirOperation module_, export_ = {};
  bool imported_ = false;
};

// Translates what is configured, and generates code.
tl::expected<Artifact, Failure> finish(Candidate& candidate, Artifact artifact,
                                       provider::CompileStages* times, Stopwatch stopwatch) {
  provider::CompileStages spent;
  spent.configure = stopwatch.lap();
  HONE_TRY(candidate.translate(artifact));
  spent.translate = stopwatch.lap();
  HONE_TRY(candidate.serialize(artifact));
  spent.serialize = stopwatch.lap();
  if (times != nullptr) *times = spent;
  return artifact;
}

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

Result<PreparedDispatch> PreparedDispatch::create(const CompilerLibrary& library,
                                                  const std::string& source,
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
  const Stopwatch stopwatch;
  const DispatchIr& dispatch = state_->dispatch;
  const bool from_configured = configuration && (dispatch.decomposed || dispatch.batch_restored ||
                                                 !configuration->surrounding_configs.empty());
  Candidate candidate(state_->session, dispatch,
                      (from_configured ? dispatch.configured : dispatch.module).clone(),
                      state_->for_gpu, from_configured);
  Artifact artifact;
  HONE_TRY(candidate.configure(configuration, artifact));
  return finish(candidate, std::move(artifact), times, stopwatch);
}

tl::expected<Artifact, Failure> PreparedDispatch::compile_in_its_place(
    const std::string& executable, provider::CompileStages* times) {
  const Stopwatch stopwatch;
  std::optional<OwnedModule> module;
  {
    Invocation reader(state_->session);
    if (!reader.parse("kernel", state_->session.keep(executable)))
      return compile_error(reader, "read the kernel");
    module = reader.take_module();
  }
  Candidate candidate(state_->session, state_->dispatch, *std::move(module), state_->for_gpu);
  HONE_TRY(candidate.reach_configurations());
  return finish(candidate, {}, times, stopwatch);
}

}  // namespace hone::iree
