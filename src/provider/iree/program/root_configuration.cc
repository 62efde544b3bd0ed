#include "provider/iree/program/root_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "provider/iree/gpu/constraint_reader.h"
#include "provider/iree/gpu/stated_additions.h"
#include "provider/iree/program/root_operation.h"

namespace hone::iree {
namespace {

using provider::Failure;
using provider::FailureKind;

tl::unexpected<Failure> not_applied(std::string message) {
  return tl::unexpected(Failure{FailureKind::kNotApplied, std::move(message)});
}

// The compiler's attribute for a configuration: what a tuning spec annotates a root operation with.
std::string compilation_info(const Attributes& configuration) {
  return fmt::format("#iree_codegen.compilation_info<lowering_config = {}, translation_info = {}>",
                     configuration.lowering_config, configuration.translation_info);
}

}  // namespace

tl::unexpected<Failure> compile_error(const Invocation& invocation, std::string_view what) {
  const std::string words = invocation.diagnostics();
  return tl::unexpected(
      Failure{FailureKind::kCompileError,
              words.empty() ? fmt::format("IREE's compiler failed to {} and did not say why", what)
                            : with_reason(words)});
}

// Sets the root operation's compilation_info, as a tuning spec does.
RootConfiguration::Step RootConfiguration::annotate(MlirOperation export_operation,
                                                    const Attributes& wanted) {
  if (!dispatch_.root) return not_applied("the dispatch has no root operation to configure");
  MlirAttribute info;
  HONE_TRY(wanted.statement >= 0 ? materialise(wanted, info) : parse(wanted, info));
  const MlirOperation function = function_of(ir_, export_operation);
  const MlirOperation root = from_configured_ ? configured_root(ir_, function)
                                              : same_location(ir_, function, dispatch_.root);
  if (!wanted.interchange.empty() && !interchange_loops(ir_, root, wanted.interchange))
    return not_applied("the root operation's loops cannot be interchanged");
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
  if (!wanted.sibling_config.empty()) HONE_TRY(annotate_siblings(wanted, function, root));
  if (!wanted.surrounding_configs.empty()) HONE_TRY(annotate_found(wanted, function, root));
  return annotate_surrounding(wanted, function, root);
}

// Gives each neighbour its own configuration.
RootConfiguration::Step RootConfiguration::annotate_found(const Attributes& wanted,
                                                          MlirOperation function,
                                                          MlirOperation root) {
  const std::vector<FoundSurrounding> found = find_surrounding(ir_, function, root);
  if (found.size() != wanted.surrounding_configs.size())
    return not_applied(
        fmt::format("the dispatch has {} operations beside its root and the "
                    "configuration is for {}",
                    found.size(), wanted.surrounding_configs.size()));
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!wanted.surrounding_configs[i].empty())
      HONE_TRY(set_lowering_config(found[i].operation, wanted.surrounding_configs[i]));
  return {};
}

// Gives the other operations with the root's loops the layout that the root has.
RootConfiguration::Step RootConfiguration::annotate_siblings(const Attributes& wanted,
                                                             MlirOperation function,
                                                             MlirOperation root) {
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

RootConfiguration::Step RootConfiguration::parse(const Attributes& wanted, MlirAttribute& info) {
  HONE_TRY(parse(wanted.lowering_config, "lowering_config", lowering_));
  HONE_TRY(parse(wanted.translation_info, "translation_info", translation_));
  HONE_TRY(parse(compilation_info(wanted), "configuration", info));
  if (wanted.decomposition_config.empty()) return {};
  return parse(wanted.decomposition_config, "decomposition_config", decomposition_);
}

RootConfiguration::Step RootConfiguration::parse(const std::string& text, std::string_view what,
                                                 MlirAttribute& parsed) {
  parsed = ir_.parse_attribute(session_.context(), text);
  if (parsed) return {};
  return compile_error(invocation_, fmt::format("read the {}", what));
}

// Lets the compiler make the attributes of the knobs' values.
RootConfiguration::Step RootConfiguration::materialise(const Attributes& wanted,
                                                       MlirAttribute& info) {
  const MlirOperation function =
      function_of(ir_, exports_in(ir_, dispatch_.configured.get()).at(0));
  const std::vector<MlirOperation> stated = constraint_operations(ir_, function);
  const auto which = static_cast<std::size_t>(wanted.statement);
  if (which >= stated.size()) return not_applied("the compiler states no such constraints");
  auto made = materialised(ir_, stated[which], "compilation_info", wanted.knobs);
  if (!made) return tl::unexpected(Failure{FailureKind::kCompileError, made.error().message});
  info = *made;
  const auto parts = session_.api().ireeCodegenCompilationInfoAttrGetParameters(info);
  lowering_ = parts.lowering_config;
  translation_ = parts.translation_info;
  if (!wanted.options.empty()) {
    translation_ = with_own_knobs(ir_, session_.context(), translation_, wanted.options);
    if (!translation_)
      return compile_error(invocation_, "add hone's own knobs to the translation_info");
    HONE_TRY(parse(compilation_info({ir_.text(lowering_), ir_.text(translation_)}), "configuration",
                   info));
  }
  if (!has_decomposition(ir_, stated[which])) return {};
  auto decomposition = materialised(ir_, stated[which], "decomposition_config", wanted.knobs);
  if (!decomposition)
    return tl::unexpected(Failure{FailureKind::kCompileError, decomposition.error().message});
  decomposition_ = *decomposition;
  return {};
}

// Gives the operations next to the root the configurations that the root's needs there: the fill
// that defines its output operand and the structured operations that read its result, as the
// spec does (tuning_spec.cc).
RootConfiguration::Step RootConfiguration::annotate_surrounding(const Attributes& wanted,
                                                                MlirOperation function,
                                                                MlirOperation root) {
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

RootConfiguration::Step RootConfiguration::set_lowering_config(MlirOperation operation,
                                                               const std::string& text) {
  MlirAttribute config;
  HONE_TRY(parse(text, "lowering_config", config));
  ir_.set_attribute(operation, "lowering_config", config);
  return {};
}

bool RootConfiguration::is_configured(MlirOperation function) const {
  const auto carries = [this](MlirOperation operation, std::string_view name,
                              MlirAttribute wanted) {
    return wanted && ir_.attribute(operation, name) == wanted;
  };
  return carries(function, "translation_info", translation_) &&
         static_cast<bool>(ir_.find(function, [&](MlirOperation operation) {
           return carries(operation, "lowering_config", lowering_);
         }));
}

}  // namespace hone::iree
