#include "provider/iree/gpu/constraint_reader.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>

#include "base/ranges.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/compiler/compiler_session.h"

namespace hone::iree {
namespace {

constexpr std::pair<std::string_view, StatedTermKind> kOperations[] = {
    {"smt.int.add", StatedTermKind::kAdd},
    {"smt.int.sub", StatedTermKind::kSubtract},
    {"smt.int.mul", StatedTermKind::kMultiply},
    {"smt.int.div", StatedTermKind::kDivide},
    {"smt.int.mod", StatedTermKind::kModulo},
    {"smt.and", StatedTermKind::kAnd},
    {"smt.or", StatedTermKind::kOr},
    {"smt.not", StatedTermKind::kNot},
    {"smt.ite", StatedTermKind::kIfThenElse},
};
// Comparisons by the value of smt.int.cmp's attribute `pred`.
constexpr std::array<StatedTermKind, 4> kPredicates = {
    StatedTermKind::kLess, StatedTermKind::kLessEqual, StatedTermKind::kGreater,
    StatedTermKind::kGreaterEqual};

class ConstraintReader {
 public:
  ConstraintReader(const Ir& ir, MlirOperation constraints) : ir_(ir), constraints_(constraints) {}

  Result<StatedSet> run() {
    set_.pipeline = pipeline();
    HONE_TRY(dimensions());
    collect_options(ir_.attribute(constraints_, "knobs"));
    for (const MlirOperation operation : ir_.children(constraints_)) HONE_TRY(read(operation));
    return std::move(set_);
  }

 private:
  // The word in "#iree_gpu.pipeline<TileAndFuse>": only people read it.
  std::string pipeline() const {
    const std::string text = ir_.text(ir_.attribute(constraints_, "pipeline"));
    const auto open = text.find('<'), close = text.rfind('>');
    if (open == std::string::npos || close == std::string::npos) return text;
    return text.substr(open + 1, close - open - 1);
  }

  // The region's arguments stand for the operation's operands.
  Status dimensions() {
    const std::vector<MlirValue> sizes = ir_.operands(constraints_),
                                 arguments = ir_.arguments(constraints_);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto size = i < sizes.size() ? ir_.constant(sizes[i]) : std::nullopt;
      if (!size)
        return input_error("dimension {} of the compiler's constraints is known only at run time",
                           i);
      define(arguments[i], {.value = *size});
    }
    return {};
  }

  void define(MlirValue value, StatedTerm term) {
    positions_[value] = static_cast<int>(set_.terms.size());
    set_.terms.push_back(std::move(term));
  }

  Result<std::vector<int>> operands(MlirOperation operation) const {
    std::vector<int> found;
    for (const MlirValue value : ir_.operands(operation)) {
      const auto position = positions_.find(value);
      if (position == positions_.end())
        return input_error("{} in the compiler's constraints reads a value from outside of them",
                           ir_.name(operation));
      found.push_back(position->second);
    }
    return found;
  }

  static Status unknown(std::string_view what) {
    return input_error(
        "the compiler's constraints hold '{}', which this version of hone does not know", what);
  }

  Status read(MlirOperation operation) {
    const std::string_view name = ir_.name(operation);
    HONE_ASSIGN(const std::vector<int> inputs, operands(operation));
    if (name == "iree_codegen.smt.assert") return add_assertion(operation, inputs);
    HONE_ASSIGN(StatedTerm term, read_term(operation, name, inputs));
    const std::vector<MlirValue> results = ir_.results(operation);
    if (results.size() != 1) return unknown(name);
    define(results.front(), std::move(term));
    return {};
  }

  Status add_assertion(MlirOperation operation, const std::vector<int>& inputs) {
    const auto message = ir_.string_value(ir_.attribute(operation, "msg"));
    if (!message || inputs.empty()) return unknown("an assertion without a message");
    set_.assertions.push_back({inputs.front(), *message, {inputs.begin() + 1, inputs.end()}});
    return {};
  }

  Result<StatedTerm> read_term(MlirOperation operation, std::string_view name,
                               const std::vector<int>& inputs) {
    const auto refuse = [](std::string_view what) -> Result<StatedTerm> {
      return tl::unexpected(std::move(unknown(what)).error());
    };
    for (const auto& [known, kind] : kOperations)
      if (known == name) return StatedTerm{.kind = kind, .operands = inputs};
    if (name == "smt.eq") {
      if (inputs.size() != 2) return refuse("smt.eq of more than two");
      return StatedTerm{.kind = StatedTermKind::kEqual, .operands = inputs};
    }
    if (name == "smt.int.constant") {
      const auto value = ir_.integer_value(ir_.attribute(operation, "value"));
      if (!value) return refuse("smt.int.constant without a value");
      return StatedTerm{.value = *value};
    }
    if (name == "smt.int.cmp") {
      const auto predicate = ir_.integer_value(ir_.attribute(operation, "pred"));
      if (!predicate || *predicate < 0 || *predicate >= std::ssize(kPredicates))
        return refuse("smt.int.cmp with another predicate");
      return StatedTerm{.kind = kPredicates.at(to_index(*predicate)), .operands = inputs};
    }
    if (name == "iree_codegen.smt.lookup")
      return StatedTerm{.kind = StatedTermKind::kLookup,
                        .operands = inputs,
                        .keys = ir_.long_integers(ir_.attribute(operation, "keys")),
                        .values = ir_.long_integers(ir_.attribute(operation, "values"))};
    if (name == "smt.declare_fun") {
      const auto prefix = ir_.string_value(ir_.attribute(operation, "namePrefix"));
      return StatedTerm{.kind = StatedTermKind::kAuxiliary,
                        .name = fmt::format("{}#{}", prefix.value_or("x"), set_.terms.size())};
    }
    if (name == "iree_codegen.smt.knob") {
      const auto knob = ir_.string_value(ir_.attribute(operation, "name"));
      if (!knob) return refuse("a knob without a name");
      add_knob(*knob);
      return StatedTerm{.kind = StatedTermKind::kKnob, .name = *knob};
    }
    return refuse(name);
  }

  void add_knob(const std::string& name) {
    for (const StatedKnob& knob : set_.knobs)
      if (knob.name == name) return;
    const auto options = options_.find(name);
    set_.knobs.push_back(
        {name, options == options_.end() ? std::vector<std::string>() : options->second});
  }

  bool is_of(MlirAttribute attribute, MlirTypeID type) const {
    return ir_.api().mlirAttributeGetTypeID(attribute) == type;
  }

  // The options of every one-of knob in the attribute, however deep: attention has its knobs in
  // lowering configurations inside dictionaries.
  void collect_options(MlirAttribute attribute) {
    const CApi& api = ir_.api();
    if (!attribute) return;
    if (is_of(attribute, api.ireeCodegenOneOfKnobAttrGetTypeID())) {
      std::intptr_t count = 0;
      api.ireeCodegenOneOfKnobAttrGetOptions(attribute, &count, nullptr);
      std::vector<MlirAttribute> options(to_index(count));
      api.ireeCodegenOneOfKnobAttrGetOptions(attribute, &count, options.data());
      const auto name = ir_.string_value(api.ireeCodegenOneOfKnobAttrGetName(attribute));
      std::vector<std::string>& texts = options_[name.value_or("")];
      texts.clear();
      for (const MlirAttribute option : options) texts.push_back(ir_.text(option));
    } else if (is_of(attribute, api.ireeGPULoweringConfigAttrGetTypeID())) {
      collect_options(api.ireeGPULoweringConfigAttrGetAttributes(attribute));
    } else if (api.mlirAttributeIsADictionary(attribute)) {
      for (std::intptr_t i = 0; i < api.mlirDictionaryAttrGetNumElements(attribute); ++i)
        collect_options(api.mlirDictionaryAttrGetElement(attribute, i).attribute);
    } else {
      for (const MlirAttribute element : ir_.elements(attribute)) collect_options(element);
    }
  }

  const Ir& ir_;
  MlirOperation constraints_;
  StatedSet set_;
  std::map<MlirValue, int> positions_;
  std::map<std::string, std::vector<std::string>> options_;
};

}  // namespace

std::vector<MlirOperation> constraint_operations(const Ir& ir, MlirOperation function) {
  return ir.all(function, [&](MlirOperation operation) {
    return ir.is(operation, "iree_codegen.smt.constraints");
  });
}

Result<StatedSet> read_constraints(const Ir& ir, MlirOperation constraints) {
  return ConstraintReader(ir, constraints).run();
}

Result<MlirAttribute> materialised(const Ir& ir, MlirOperation constraints, std::string_view name,
                                   const std::map<std::string, std::int64_t>& knobs) {
  std::vector<MlirStringRef> names;
  std::vector<std::int64_t> values;
  for (const auto& [knob, value] : knobs) {
    names.push_back(to_ref(knob));
    values.push_back(value);
  }
  MlirAttribute diagnostic;
  const MlirAttribute made = ir.api().ireeCodegenMaterializeConfigurationAttrFromConstraintsOp(
      constraints, to_ref(name), names.size(), names.data(), values.data(), &diagnostic);
  if (!made)
    return input_error("IREE does not make a {} of these knobs: {}", name,
                       ir.string_value(diagnostic).value_or("it does not say why"));
  return made;
}

bool has_decomposition(const Ir& ir, MlirOperation constraints) {
  const MlirAttribute knobs = ir.attribute(constraints, "knobs");
  return knobs && ir.api().mlirAttributeIsADictionary(knobs) &&
         ir.api().mlirDictionaryAttrGetElementByName(knobs, to_ref("decomposition_config"));
}

bool states_constraints(const CompilerLibrary& library, const std::string& name,
                        const std::string& source, const std::vector<std::string>& flags) {
  constexpr rlim_t kSeconds = 60;
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    const rlimit limit{kSeconds, kSeconds};
    ::setrlimit(RLIMIT_CPU, &limit);
    // The compiler prints a stack trace when it dies, which is expected here.
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing >= 0) ::dup2(nothing, STDERR_FILENO);
    const auto stated = stated_constraints(library, name, source, flags);
    ::_exit(stated && !stated->empty() ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Result<StatedSpace> stated_constraints(const CompilerLibrary& library, const std::string& name,
                                       const std::string& source,
                                       const std::vector<std::string>& flags) {
  std::vector<std::string> all = flags;
  all.emplace_back(kTunerAttributesFlag);
  all.emplace_back(kConstraintsFlag);
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, all));
  const Ir ir(session.api());
  Invocation configure(session);
  if (!configure.parse(name, source) ||
      !configure.run(kExecutableSources, kExecutableConfigurations))
    return input_error("IREE cannot configure the dispatch '{}': {}", name,
                       configure.diagnostics());
  const OwnedModule module = configure.take_module();
  StatedSpace stated;
  for (const MlirOperation each : exports_in(ir, module.get()))
    for (const MlirOperation operation : constraint_operations(ir, function_of(ir, each))) {
      // Skip constraints that depend on a run-time size: they do not state a kernel for every size.
      const auto is_open = [&](MlirValue size) { return !ir.constant(size); };
      if (std::ranges::any_of(ir.operands(operation), is_open)) continue;
      HONE_ASSIGN(StatedSet set, read_constraints(ir, operation));
      stated.push_back(std::move(set));
    }
  return stated;
}

}  // namespace hone::iree
