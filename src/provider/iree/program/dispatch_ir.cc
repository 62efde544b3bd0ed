#include "provider/iree/program/dispatch_ir.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "provider/iree/compiler/attributes.h"
#include "provider/iree/program/root_operation.h"

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

namespace {

// A nest and the tensors it walks: inputs, outputs, and the results that the outputs become.
struct Nest {
  MlirOperation operation;
  problem::Operation described;
  std::vector<int> root_loops;
};

class DimensionMap {
 public:
  explicit DimensionMap(const Ir& ir) : ir_(ir) {}

  // Learns loops of the nest from the known dimensions of its tensors and records those of its own
  // loops. Returns whether anything changed.
  bool follow(Nest& nest) {
    const bool learned = each(nest, [&](const Place& place, int& loop) {
      const auto known = loops_.find(place);
      if (loop >= 0 || known == loops_.end()) return false;
      loop = known->second;
      return true;
    });
    const bool told = each(nest, [&](const Place& place, int& loop) {
      return loop >= 0 && loops_.emplace(place, loop).second;
    });
    return learned || told;
  }

 private:
  using Place = std::pair<MlirValue, std::size_t>;  // of a tensor, a dimension

  template <typename Visit>
  bool each(Nest& nest, Visit visit) const {
    bool changed = false;
    const std::vector<MlirValue> operands = ir_.operands(nest.operation);
    const std::vector<MlirValue> results = ir_.results(nest.operation);
    const auto& described = nest.described.operands;
    const std::size_t inputs = described.size() - std::min(described.size(), results.size());
    const auto walk = [&](MlirValue value, const problem::Operand& operand) {
      const MlirOperation source = ir_.defining_operation(value);
      if (ir_.is(source, "tensor.empty")) return;
      for (std::size_t d = 0; d < operand.loops.size(); ++d)
        if (operand.loops[d] >= 0)
          changed |=
              visit(Place{value, d}, nest.root_loops[static_cast<std::size_t>(operand.loops[d])]);
    };
    for (std::size_t i = 0; i < described.size() && i < operands.size(); ++i) {
      walk(operands[i], described[i]);
      if (i >= inputs) walk(results[i - inputs], described[i]);
    }
    return changed;
  }

  const Ir& ir_;
  std::map<Place, int> loops_;
};

}  // namespace

std::vector<FoundSurrounding> find_surrounding(const Ir& ir, MlirOperation function,
                                               MlirOperation root) {
  std::vector<FoundSurrounding> found;
  std::vector<Nest> nests;
  const auto nest_of = [&](MlirOperation operation) {
    auto described = describe_operation(ir, operation);
    const std::size_t loops = described ? described->loops.size() : 0;
    return described ? std::optional(Nest{operation, std::move(*described), std::vector(loops, -1)})
                     : std::nullopt;
  };
  auto root_nest = nest_of(root);
  if (!root_nest) return {};
  for (std::size_t i = 0; i < root_nest->root_loops.size(); ++i)
    root_nest->root_loops[i] = static_cast<int>(i);
  nests.push_back(std::move(*root_nest));

  const std::vector<MlirOperation> structured = structured_operations(ir, function);
  const auto add = [&](MlirOperation operation, int from, int operand, bool feeds) {
    if (std::ranges::find(nests, operation, &Nest::operation) != nests.end()) return;
    auto nest = nest_of(operation);
    if (!nest) return;
    std::vector<problem::Loop> loops;
    for (const problem::Loop& loop : nest->described.loops)
      loops.push_back({loop.reduction, loop.size});
    found.push_back(
        {operation, {std::string(ir.name(operation)), from, operand, feeds, loops, {}}});
    nests.push_back(std::move(*nest));
  };
  // nests[i + 1] is found[i]; both grow while they are walked. What feeds the root comes first.
  for (const bool readers : {false, true})
    for (std::size_t i = 0; i < nests.size(); ++i) {
      const int from = static_cast<int>(i) - 1;
      const bool feeds = i == 0 || found[i - 1].what.feeds_root;
      const MlirOperation operation = nests[i].operation;
      const std::vector<MlirValue> operands = ir.operands(operation);
      for (std::size_t k = 0; k < operands.size(); ++k) {
        const MlirOperation source = ir.defining_operation(operands[k]);
        if (std::ranges::count(structured, source) > 0)
          add(source, from, static_cast<int>(k), feeds && !readers);
      }
      if (!readers) continue;
      for (const MlirOperation each : structured)
        if (ir.reads(each, operation)) add(each, from, -1, false);
    }

  DimensionMap dimensions(ir);
  for (bool changed = true; changed;) {
    changed = false;
    for (Nest& nest : nests) changed |= dimensions.follow(nest);
  }
  for (std::size_t i = 0; i < found.size(); ++i) found[i].what.root_loops = nests[i + 1].root_loops;
  return found;
}

}  // namespace hone::iree
