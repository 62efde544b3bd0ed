
#include <charconv>

#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/ir.h"
#include "provider/iree/spec/parsed_module.h"
#include "provider/iree/spec/tuning_spec.h"

namespace hone::iree {
namespace {

constexpr std::string_view kCompilationInfo = "#iree_codegen.compilation_info<";

// The line in `loc("spec.mlir":12:3)`; 0 for a location that is no place in a file.
int line_of(const Ir& ir, MlirOperation operation) {
  std::string text;
  ir.api().mlirLocationPrint(ir.api().mlirOperationGetLocation(operation), append_to_string, &text);
  const auto quote = text.find("\":");
  int line = 0;
  if (quote != std::string::npos)
    std::from_chars(text.data() + quote + 2, text.data() + text.size(), line);
  return line;
}

void read_configuration(const Ir& ir, MlirOperation sequence, ParsedSpecEntry& entry) {
  ir.walk(sequence, [&](MlirOperation operation) {
    if (!ir.is(operation, "transform.param.constant") || !entry.lowering_config.empty()) return;
    const MlirAttribute value = ir.attribute(operation, "value");
    if (!ir.text(value).starts_with(kCompilationInfo)) return;
    const auto parts = ir.api().ireeCodegenCompilationInfoAttrGetParameters(value);
    entry.lowering_config = ir.text(parts.lowering_config);
    entry.translation_info = ir.text(parts.translation_info);
  });
}

// An action on the values that the matcher yields. It marks the function around the first one.
std::string marking_action(const Ir& ir, MlirOperation matcher, std::size_t index) {
  const std::vector<MlirOperation> yields = ir.children(matcher, "transform.yield");
  std::vector<std::string> arguments;
  if (!yields.empty())
    for (const MlirValue value : ir.operands(yields.front()))
      arguments.push_back(
          fmt::format("%arg{}: {} {{transform.readonly}}", arguments.size(), ir.type_text(value)));
  return fmt::format(
      "transform.named_sequence @hone_mark_{0}({1}) {{\n"
      "  %function = transform.get_parent_op %arg0 <{{isolated_from_above}}>\n"
      "    : (!transform.any_op) -> !transform.any_op\n"
      "  transform.annotate %function \"{2}{0}\" : !transform.any_op\n"
      "  transform.yield\n"
      "}}\n",
      index, fmt::join(arguments, ", "), kMarkPrefix);
}

class SpecReader {
 public:
  SpecReader(const Ir& ir, const SpecModule& spec, const std::string& path)
      : ir_(ir), module_(spec.module), entry_point_(spec.entry_point), path_(path) {}

  Result<ParsedSpec> read() {
    const MlirOperation entry_point = sequence_named(ir_, module_, entry_point_);
    if (!entry_point)
      return input_error(
          "'{}' has no transform.named_sequence @{}, which is what the compiler runs of a spec",
          path_, entry_point_);
    ir_.walk(entry_point, [this](MlirOperation operation) {
      if (ir_.is(operation, "transform.apply_registered_pass") &&
          ir_.string_value(ir_.attribute(operation, "pass_name")) == kBatchRestoringPass)
        restores_batch_ = true;
      if (ir_.is(operation, "transform.foreach_match")) read_pairs(operation);
    });
    if (!problem_.empty()) return input_error("{}", problem_);
    if (const MlirOperation linked = ir_.find(entry_point, "transform.include");
        linked && spec_.entries.empty())
      return input_error(
          "'{0}' runs other specs inside it ({1}), as IREE links specs without a default entry "
          "point; write their entries as one spec: hone spec merge {0} -o one.mlir",
          path_, ir_.text(ir_.attribute(linked, "target")));
    if (spec_.entries.empty())
      return input_error("'{}' has no entry: @{} holds no transform.foreach_match with a pair",
                         path_, entry_point_);
    spec_.marking = marking();
    return std::move(spec_);
  }

 private:
  void read_pairs(MlirOperation foreach_match) {
    const auto matchers = ir_.elements(ir_.attribute(foreach_match, "matchers"));
    const auto actions = ir_.elements(ir_.attribute(foreach_match, "actions"));
    for (std::size_t i = 0; i < matchers.size() && i < actions.size(); ++i) {
      const MlirOperation matcher = sequence_named(ir_, module_, ir_.leaf_symbol(matchers[i]));
      const MlirOperation action = sequence_named(ir_, module_, ir_.leaf_symbol(actions[i]));
      if (!matcher || !action) {
        problem_ = fmt::format("'{}': hone reads matchers and actions beside @{} only", path_,
                               entry_point_);
        return;
      }
      ParsedSpecEntry entry;
      entry.matcher = ir_.symbol(matcher);
      entry.line = line_of(ir_, matcher);
      read_configuration(ir_, matcher, entry);
      read_configuration(ir_, action, entry);
      marks_ += marking_action(ir_, matcher, spec_.entries.size());
      spec_.entries.push_back(std::move(entry));
    }
  }

  std::string marking() const {
    std::string text = "module attributes {transform.with_named_sequence} {\n";
    for (const MlirOperation each : ir_.children(module_, "transform.named_sequence"))
      if (ir_.symbol(each) != entry_point_) text += ir_.text(each) + "\n";
    text += marks_;
    text += fmt::format(
        "transform.named_sequence @{}(%variant0: !transform.any_op {{transform.consumed}})\n"
        "    -> !transform.any_op attributes {{iree_codegen.tuning_spec_entrypoint}} {{\n",
        kEntryPoint);
    if (restores_batch_) text += batch_restoring_text("%variant0", "%batched");
    for (std::size_t i = 0; i < spec_.entries.size(); ++i)
      text += fmt::format(
          "  %variant{} = transform.foreach_match in {} @{} -> @hone_mark_{}\n"
          "    : (!transform.any_op) -> !transform.any_op\n",
          i + 1, i == 0 && restores_batch_ ? "%batched" : fmt::format("%variant{}", i),
          spec_.entries[i].matcher, i);
    return text + fmt::format("  transform.yield %variant{} : !transform.any_op\n}}\n}}\n",
                              spec_.entries.size());
  }

  const Ir& ir_;
  MlirOperation module_;
  const std::string& entry_point_;
  const std::string& path_;
  ParsedSpec spec_;
  std::string marks_;
  std::string problem_;
  bool restores_batch_ = false;
};

constexpr char kLinkPass[] = "iree-codegen-link-tuning-specs";

}  // namespace

MlirOperation sequence_named(const Ir& ir, MlirOperation module, const std::string& symbol) {
  for (const MlirOperation each : ir.children(module, "transform.named_sequence"))
    if (ir.symbol(each) == symbol) return each;
  return {};
}

Result<OwnedModule> parsed_spec(const CompilerSession& session, const std::string& path,
                                std::string_view bytes) {
  Invocation invocation(session);
  if (!invocation.parse(path, bytes))
    return input_error(
        "'{}' is no tuning spec that IREE reads:\n{}\nif an older IREE read it: hone spec upgrade "
        "{} "
        "-o upgraded.mlir",
        path, invocation.diagnostics(), path);
  return invocation.take_module();
}

Result<OwnedModule> linked_specs(const CompilerSession& session, const std::string& path,
                                 const std::string& text) {
  Invocation invocation(session);
  if (!invocation.parse(path, text) || !invocation.run_passes(kLinkPass))
    return input_error("'{}' cannot be linked with another spec:\n{}", path,
                       invocation.diagnostics());
  return invocation.take_module();
}

Result<ParsedSpec> read_spec_file(const CompilerLibrary& library, const std::string& path,
                                  std::string_view bytes) {
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, {}));
  HONE_ASSIGN(const OwnedModule module, parsed_spec(session, path, bytes));
  return read_spec(Ir(session.api()), {module.get()}, path);
}

Result<ParsedSpec> read_spec(const Ir& ir, const SpecModule& spec, const std::string& path) {
  return SpecReader(ir, spec, path).read();
}

namespace {

// A file taken apart: what stands before its module, comments or aliases of attributes, which only
// a file's outermost level may have; and the module under a name of its own.
struct Parts {
  std::string head, module;
};

Result<Parts> parts_of(const std::string& text, const std::string& name, const std::string& path) {
  constexpr std::string_view kModule = "module";
  std::size_t at = text.starts_with(kModule) ? 0 : text.find("\nmodule");
  if (at != 0 && at != std::string::npos) ++at;
  const std::size_t body =
      at == std::string::npos ? at : text.find_first_of("{a", at + kModule.size());
  if (body == std::string::npos) return input_error("'{}' holds no module", path);
  return Parts{text.substr(0, at), "module @" + name + " " + text.substr(body)};
}

}  // namespace

Result<std::string> link_specs(const CompilerLibrary& library, const std::string& path,
                               std::string_view first, std::string_view second) {
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, {}));
  HONE_ASSIGN(const Parts own, parts_of(std::string(first), "first", "hone's spec"));
  // Print through the compiler: bytecode becomes text, with every alias at the head.
  HONE_ASSIGN(const OwnedModule spec, parsed_spec(session, path, second));
  const Ir ir(session.api());
  // The pass runs specs without this attribute one after the other. Then the last match wins.
  if (const auto entry_point = entry_point_of(ir, {spec.get()}, path);
      entry_point && !entry_point->restores_batch)
    ir.set_attribute(spec.get(), "iree_codegen.tuning_spec_with_default_entrypoint",
                     std::string("unit"));
  const std::string text = ir.text(spec.get());
  HONE_ASSIGN(const Parts other, parts_of(text, "second", path));
  const std::string both = other.head +
                           "module @linked attributes {transform.with_named_sequence} {\n" +
                           own.module + "\n" + other.module + "\n}\n";
  HONE_ASSIGN(const OwnedModule linked, linked_specs(session, path, both));
  return own.head + Ir(session.api()).text(linked.get()) + "\n";
}

}  // namespace hone::iree
