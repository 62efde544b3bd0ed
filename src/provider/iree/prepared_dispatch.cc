#include "provider/iree/prepared_dispatch.h"

#include <chrono>
#include <utility>

#include "provider/iree/dispatch_ir.h"

namespace hone::iree {
namespace {

using provider::Artifact;
using provider::Failure;
using provider::FailureKind;

tl::unexpected<Failure> fail(FailureKind kind, std::string message) {
  return tl::unexpected(Failure{kind, std::move(message)});
}

// What is wrong, or what the compiler said while it failed.
tl::unexpected<Failure> compile_error(const Invocation& invocation, std::string_view what) {
  const std::string words = invocation.diagnostics();
  return fail(FailureKind::kCompileError,
              words.empty() ? fmt::format("IREE's compiler failed to {} and did not say why", what)
                            : words);
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

// How the compiled export is launched; nothing when its grid is not known at compile time.
std::optional<provider::Launch> launch_of(const Ir& ir, MlirOperation export_operation) {
  provider::Launch launch;
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
  const std::vector<MlirValue> counts = ir.operands(returns.front());
  for (std::size_t i = 0; i < counts.size() && i < launch.grid.size(); ++i) {
    const auto count = ir.constant(counts[i]);
    if (!count) return std::nullopt;
    launch.grid[i] = static_cast<std::uint32_t>(*count);
  }
  return launch;
}

// The compiler's attribute for a configuration: what a tuning spec annotates a root operation with.
std::string compilation_info(const ConfigurationAttributes& configuration) {
  return fmt::format("#iree_codegen.compilation_info<lowering_config = {}, translation_info = {}>",
                     configuration.lowering_config, configuration.translation_info);
}

}  // namespace

struct PreparedDispatch::State {
  Session session;
  DispatchIr dispatch;
};

PreparedDispatch::PreparedDispatch(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedDispatch::PreparedDispatch(PreparedDispatch&&) noexcept = default;
PreparedDispatch& PreparedDispatch::operator=(PreparedDispatch&&) noexcept = default;
PreparedDispatch::~PreparedDispatch() = default;

Result<PreparedDispatch> PreparedDispatch::create(const Library& library, const std::string& source,
                                                  const std::vector<std::string>& flags) {
  std::vector<std::string> all = flags;
  all.emplace_back(kTunerAttributesFlag);
  HONE_ASSIGN(Session session, Session::create(library, all));
  HONE_ASSIGN(DispatchIr dispatch, read_dispatch(session, "dispatch", source));
  return PreparedDispatch(std::make_unique<State>(State{std::move(session), std::move(dispatch)}));
}

const ConfigurationAttributes& PreparedDispatch::default_configuration() const {
  return state_->dispatch.defaults;
}

tl::expected<Artifact, Failure> PreparedDispatch::compile(
    const std::optional<ConfigurationAttributes>& configuration, StageTimes* times) {
  const Session& session = state_->session;
  const DispatchIr& dispatch = state_->dispatch;
  const Ir ir(session.api());
  StageTimes spent;
  Stopwatch stopwatch;

  Invocation invocation(session);
  OwnedModule copy = dispatch.module.clone();
  const MlirOperation module = copy.get();
  if (!invocation.import(std::move(copy))) return compile_error(invocation, "take the dispatch");
  const MlirOperation exported = exports_in(ir, module).at(0);
  MlirAttribute lowering, translation;
  if (configuration) {
    if (dispatch.root.ptr == nullptr)
      return fail(FailureKind::kNotApplied, "the dispatch has no root operation to configure");
    lowering = ir.parse_attribute(session.context(), configuration->lowering_config);
    translation = ir.parse_attribute(session.context(), configuration->translation_info);
    const MlirAttribute info =
        ir.parse_attribute(session.context(), compilation_info(*configuration));
    if (lowering.ptr == nullptr || translation.ptr == nullptr || info.ptr == nullptr)
      return compile_error(invocation, "read the configuration");
    const MlirOperation root = same_location(ir, function_of(ir, exported), dispatch.root);
    ir.set_attribute(root, "compilation_info", info);
  }
  if (!invocation.run(kExecutableSources, kExecutableConfigurations))
    return compile_error(invocation, "configure the dispatch");

  Artifact artifact;
  const MlirOperation function = function_of(ir, exported);
  const MlirOperation root = configured_root(ir, function);
  if (root.ptr != nullptr) artifact.configured = ir.text(ir.attribute(root, "lowering_config"));
  if (configuration) {
    const MlirAttribute got_translation = ir.attribute(function, "translation_info");
    const bool applied =
        ir.find(
              function,
              [&](MlirOperation operation) {
                const MlirAttribute got = ir.attribute(operation, "lowering_config");
                return got.ptr != nullptr && session.api().mlirAttributeEqual(got, lowering);
              }).ptr != nullptr &&
        got_translation.ptr != nullptr &&
        session.api().mlirAttributeEqual(got_translation, translation);
    if (!applied)
      return fail(
          FailureKind::kNotApplied,
          fmt::format("the compiler configured {} with {} instead",
                      artifact.configured.empty() ? "no lowering_config" : artifact.configured,
                      ir.text(got_translation)));
    artifact.configured = ir.text(lowering);
  }
  spent.configure = stopwatch.lap();

  if (!invocation.run(kExecutableConfigurations, kExecutableTargets))
    return compile_error(invocation, "translate the dispatch");
  const MlirOperation variant = session.api().mlirOperationGetParentOperation(exported);
  artifact.format = target_format(ir.text(ir.attribute(variant, "target")));
  const auto launch = launch_of(ir, exported);
  if (!launch)
    return fail(FailureKind::kCompileError,
                "the number of workgroups is known only at run time; hone launches static grids");
  artifact.launch = *launch;
  spent.translate = stopwatch.lap();

  if (!invocation.run(kExecutableTargets, kHal)) return compile_error(invocation, "generate code");
  auto code = invocation.executable();
  if (!code) return fail(FailureKind::kCompileError, code.error().message);
  artifact.code = std::move(*code);
  spent.serialize = stopwatch.lap();
  if (times != nullptr) *times = spent;
  return artifact;
}

}  // namespace hone::iree
