#include "provider/iree/program/dispatch_ir.h"

#include <algorithm>
#include <utility>

#include "provider/iree/program/root_operation.h"
#include "provider/iree/program/surrounding_operations.h"

namespace hone::iree {
namespace {

MlirOperation last_structured(const Ir& ir, MlirOperation function) {
  const std::vector<MlirOperation> all = structured_operations(ir, function);
  return all.empty() ? MlirOperation{} : all.back();
}

bool restores_batch(const Attributes& defaults, const problem::Operation& before,
                    const problem::Operation& after) {
  return defaults.translation_info.find("#iree_cpu.pipeline") != std::string::npos &&
         before.kind == problem::OperationKind::kConvolution &&
         after.kind == problem::OperationKind::kConvolution &&
         after.loops.size() == before.loops.size() + 1 && after.loops.front().size == 1;
}

// A CPU's operations that cpu/generic_space.cc has a space for.
bool tiled_with_surrounding(const Ir& ir, const DispatchIr& dispatch) {
  if (dispatch.defaults.translation_info.find("#iree_cpu.") == std::string::npos) return false;
  const auto root = describe_operation(ir, dispatch.root);
  return root &&
         (root->kind == problem::OperationKind::kReduction ||
          root->kind == problem::OperationKind::kElementwise ||
          root->kind == problem::OperationKind::kAttention || root->name == "linalg.softmax");
}

}  // namespace

MlirOperation configured_root(const Ir& ir, MlirOperation function) {
  const std::vector<MlirOperation> marked = marked_roots(ir, function);
  if (!marked.empty()) return marked.back();
  MlirOperation last, last_contraction, last_distributed;
  for (const MlirOperation operation : structured_operations(ir, function)) {
    if (!ir.attribute(operation, "lowering_config")) continue;
    last = operation;
    if (ir.text(ir.attribute(operation, "lowering_config")).find("distribution = ") !=
        std::string::npos)
      last_distributed = operation;
    if (ir.name(operation).starts_with("linalg.") && ir.api().mlirLinalgIsAContractionOp(operation))
      last_contraction = operation;
  }
  if (last_distributed) return last_distributed;
  return last_contraction ? last_contraction : last;
}

Result<DispatchIr> read_dispatch(const CompilerSession& session, const std::string& name,
                                 const std::string& source) {
  const Ir ir(session.api());
  DispatchIr dispatch;
  {
    Invocation parse(session);
    if (!parse.parse(name, source))
      return input_error("IREE does not accept the dispatch '{}': {}", name, parse.diagnostics());
    dispatch.module = parse.take_module();
  }
  const std::vector<MlirOperation> exports = exports_in(ir, dispatch.module.get());
  if (exports.empty()) return input_error("'{}' holds no executable with an export", name);
  dispatch.export_operation = exports.front();
  dispatch.function = function_of(ir, exports.front());
  if (!dispatch.function)
    return input_error("the export '{}' has no function in the compiler's IR",
                       ir.symbol(exports.front()));

  Invocation configure(session);
  OwnedModule copy = dispatch.module.clone();
  const MlirOperation module = copy.get();
  if (!configure.import(std::move(copy)) ||
      !configure.run(kExecutableSources, kExecutableConfigurations))
    return input_error("IREE cannot configure the dispatch '{}': {}", name,
                       configure.diagnostics());
  const MlirOperation configured = function_of(ir, exports_in(ir, module).at(0));
  const MlirOperation root = configured_root(ir, configured);
  dispatch.defaults = configuration_of(ir, configured, root);
  if (root) dispatch.root = same_location(ir, dispatch.function, root);
  if (!dispatch.root) dispatch.root = last_structured(ir, dispatch.function);
  dispatch.decomposed = ir.is(dispatch.root, "linalg.softmax") && root;
  if (root && dispatch.root && !dispatch.decomposed) {
    const auto before = describe_operation(ir, dispatch.root), after = describe_operation(ir, root);
    dispatch.reshaped = before && after && before->loops.size() != after->loops.size();
    dispatch.batch_restored =
        dispatch.reshaped && restores_batch(dispatch.defaults, *before, *after);
  }
  if (dispatch.root && root && tiled_with_surrounding(ir, dispatch))
    for (FoundSurrounding& found : find_surrounding(ir, configured, root))
      dispatch.surrounding.push_back(std::move(found.what));
  dispatch.encoded = static_cast<bool>(ir.find(dispatch.function, [&](MlirOperation operation) {
    return ir.name(operation).starts_with("iree_encoding.");
  }));
  const std::size_t marked = marked_roots(ir, configured).size();
  dispatch.configured = configure.take_module();
  dispatch.root_operations = !dispatch.root ? 0 : std::max(1, static_cast<int>(marked));
  return dispatch;
}

}  // namespace hone::iree
