#include "provider/iree/program/root_operation.h"

#include <algorithm>
#include <array>

#include "base/ranges.h"
#include "problem/scalar_operation.h"

namespace hone::iree {

std::vector<IndexingMap> indexing_maps(const Ir& ir, MlirOperation operation) {
  MlirAttribute attribute = ir.attribute(operation, "indexing_maps");
  // Named operations imply their maps; the C function aborts on what is not linalg.
  if (!attribute && ir.name(operation).starts_with("linalg."))
    attribute = ir.api().mlirLinalgGetIndexingMapsAttribute(operation);
  std::vector<IndexingMap> maps;
  const CApi& api = ir.api();
  for (const MlirAttribute element : ir.elements(attribute)) {
    const MlirAffineMap map = api.mlirAffineMapAttrGetValue(element);
    IndexingMap read{to_index(api.mlirAffineMapGetNumDims(map)), {}};
    for (std::intptr_t i = 0; i < api.mlirAffineMapGetNumResults(map); ++i) {
      const MlirAffineExpr result = api.mlirAffineMapGetResult(map, i);
      read.results.push_back(api.mlirAffineExprIsADim(result)
                                 ? static_cast<int>(api.mlirAffineDimExprGetPosition(result))
                                 : -1);
    }
    maps.push_back(std::move(read));
  }
  return maps;
}

namespace {

using problem::LoopRole;
using problem::OperationKind;
using problem::ScalarKind;

bool has_reduction(const std::vector<problem::Loop>& loops) {
  return std::ranges::any_of(loops, &problem::Loop::reduction);
}

OperationKind contraction_kind(const problem::Operation& operation) {
  const auto count = [&](LoopRole role) { return problem::loops_with(operation, role).size(); };
  if (count(LoopRole::kM) == 0 || count(LoopRole::kN) == 0) return OperationKind::kMatvec;
  if (count(LoopRole::kM) > 1 || count(LoopRole::kN) > 1 || count(LoopRole::kK) != 1)
    return OperationKind::kContraction;
  return count(LoopRole::kBatch) > 0 ? OperationKind::kBatchMatmul : OperationKind::kMatmul;
}

void set_contraction_roles(const Ir& ir, MlirOperation operation, problem::Operation& described) {
  const auto dimensions = ir.api().mlirLinalgInferContractionDimensions(operation);
  const std::array<std::pair<MlirAttribute, LoopRole>, 4> roles = {
      {{dimensions.batch, LoopRole::kBatch},
       {dimensions.m, LoopRole::kM},
       {dimensions.n, LoopRole::kN},
       {dimensions.k, LoopRole::kK}}};
  for (const auto& [loops, role] : roles)
    for (const int loop : ir.integers(loops)) described.loops.at(to_index(loop)).role = role;
  described.kind = contraction_kind(described);
}

OperationKind other_kind(const Ir& ir, MlirOperation operation,
                         const std::vector<problem::Loop>& loops) {
  const std::string_view name = ir.name(operation);
  if (name.find("attention") != std::string_view::npos) return OperationKind::kAttention;
  if (!name.starts_with("linalg.")) return OperationKind::kOther;
  if (ir.api().mlirLinalgIsAConvolutionOp(operation)) return OperationKind::kConvolution;
  return has_reduction(loops) ? OperationKind::kReduction : OperationKind::kElementwise;
}

// Distinct names of the operations in the body, in order, without constants and the terminator.
std::vector<std::string> body_names(const Ir& ir, MlirOperation operation) {
  std::vector<std::string> names;
  for (const MlirOperation each : ir.children(operation)) {
    const std::string name(ir.name(each));
    if (!is_any_of(name, {"linalg.yield", "arith.constant", "linalg.index"}) &&
        std::ranges::count(names, name) == 0)
      names.push_back(name);
  }
  return names;
}

// A body that only yields its input moves data.
std::string movement(const std::vector<IndexingMap>& maps) {
  if (maps.size() != 2) return "copy";
  if (maps[0].results.size() < maps[1].results.size()) return "broadcast";
  return maps[0].results == maps[1].results ? "copy" : "transpose";
}

// linalg.softmax states no maps: it walks its input, and reduces along one dimension of it.
Result<problem::Operation> describe_softmax(const Ir& ir, MlirOperation operation) {
  problem::Operation described;
  described.name = ir.name(operation);
  const auto reduced = ir.integer_value(ir.attribute(operation, "dimension"));
  for (const MlirValue value : ir.operands(operation)) {
    const std::string text = ir.type_text(value);
    const auto type = parse_type(text);
    if (!type) return input_error("a softmax of type {}, which hone does not know", text);
    problem::Operand operand{*type, {}, !described.operands.empty()};
    for (int loop = 0; loop < static_cast<int>(type->shape.size()); ++loop)
      operand.loops.push_back(loop);
    described.operands.push_back(std::move(operand));
  }
  if (described.operands.size() != 2 || !reduced)
    return input_error("a softmax without an input, an output and a dimension");
  const auto& shape = described.operands.front().type.shape;
  for (std::size_t loop = 0; loop < shape.size(); ++loop)
    described.loops.push_back({static_cast<std::int64_t>(loop) == *reduced, shape[loop]});
  return described;
}

}  // namespace

Result<problem::Operation> describe_operation(const Ir& ir, MlirOperation operation) {
  if (ir.is(operation, "linalg.softmax")) return describe_softmax(ir, operation);
  problem::Operation described;
  described.name = ir.name(operation);
  const std::vector<IndexingMap> maps = indexing_maps(ir, operation);
  const std::vector<MlirValue> values = ir.operands(operation);
  if (described.name == "iree_tensor_ext.dispatch.tensor.store")
    return input_error(
        "it copies from one buffer to another, with no operation that the compiler could be given "
        "a configuration for");
  if (maps.empty() || values.size() < maps.size())
    return input_error("its root operation '{}' is no loop nest with indexing maps",
                       described.name);
  described.loops.resize(maps.front().loops);
  const std::size_t results = ir.results(operation).size();
  const std::size_t inputs = maps.size() - std::min(maps.size(), results);
  std::vector<bool> in_output(described.loops.size(), false);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const std::string text = ir.type_text(values[i]);
    const auto type = parse_type(text);
    if (!type) return input_error("operand {} has type {}, which hone does not know", i, text);
    problem::Operand operand{*type, maps[i].results, i >= inputs};
    for (std::size_t d = 0; d < operand.loops.size() && d < type->shape.size(); ++d) {
      if (operand.loops[d] < 0) continue;
      const auto loop = to_index(operand.loops[d]);
      described.loops[loop].size = type->shape[d];
      if (operand.output) in_output[loop] = true;
    }
    described.operands.push_back(std::move(operand));
  }
  for (std::size_t loop = 0; loop < described.loops.size(); ++loop)
    described.loops[loop].reduction = !in_output[loop];
  if (described.name.starts_with("linalg.") && ir.api().mlirLinalgIsAContractionOp(operation))
    set_contraction_roles(ir, operation, described);
  else
    described.kind = other_kind(ir, operation, described.loops);
  return described;
}

bool interchange_loops(const Ir& ir, MlirOperation operation, const std::vector<int>& order) {
  const std::vector<IndexingMap> maps = indexing_maps(ir, operation);
  const auto types = ir.elements(ir.attribute(operation, "iterator_types"));
  if (!ir.is(operation, "linalg.generic") || types.size() != order.size()) return false;
  if (ir.find(operation, "linalg.index")) return false;
  std::vector<int> place(order.size(), -1);  // of each loop in the new order
  std::vector<std::string> dims, new_types, new_maps;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto loop = to_index(order[i]);
    if (order[i] < 0 || loop >= order.size() || place[loop] >= 0) return false;
    place[loop] = static_cast<int>(i);
    dims.push_back(fmt::format("d{}", i));
    new_types.push_back(ir.text(types[loop]));
  }
  for (const IndexingMap& map : maps) {
    std::vector<std::string> results;
    for (const int loop : map.results) {
      if (loop < 0) return false;
      results.push_back(fmt::format("d{}", place[to_index(loop)]));
    }
    new_maps.push_back(
        fmt::format("affine_map<({}) -> ({})>", fmt::join(dims, ", "), fmt::join(results, ", ")));
  }
  const auto set = [&](std::string_view name, const std::vector<std::string>& texts) {
    ir.set_attribute(operation, name, fmt::format("[{}]", fmt::join(texts, ", ")));
  };
  set("indexing_maps", new_maps);
  set("iterator_types", new_types);
  return true;
}

bool adds_products(const Ir& ir, MlirOperation operation) {
  return std::ranges::all_of(body_names(ir, operation), [](const std::string& name) {
    return is_any_of(name, {"arith.mulf", "arith.addf", "arith.muli", "arith.addi", "arith.extf",
                            "arith.extsi", "arith.sitofp"});
  });
}

std::vector<std::array<std::size_t, 2>> summed_products(const Ir& ir, MlirOperation operation) {
  const std::size_t results = ir.results(operation).size(),
                    operands = ir.operands(operation).size();
  if (!ir.is(operation, "linalg.generic") || results == 0 || operands < results + 2) return {};
  const std::vector<MlirValue> arguments = ir.arguments(operation), yielded = ir.yielded(operation);
  // The argument that a factor is, perhaps widened; past the end for anything else.
  const auto argument = [&](MlirValue value) {
    const MlirOperation from = ir.defining_operation(value);
    if (is_any_of(ir.name(from), {"arith.extf", "arith.extsi"})) value = ir.operands(from).at(0);
    return to_index(std::ranges::find(arguments, value) - arguments.begin());
  };
  std::vector<std::array<std::size_t, 2>> found;
  for (std::size_t r = 0; r < results; ++r) {
    const MlirOperation sum = ir.defining_operation(yielded.at(r));
    if (problem::scalar_facts(ir.name(sum)).kind != ScalarKind::kSum) return {};
    std::vector<MlirValue> terms = ir.operands(sum);
    if (terms.at(0) == arguments.at(operands - results + r)) std::swap(terms.at(0), terms.at(1));
    const MlirOperation product = ir.defining_operation(terms.at(0));
    if (terms.at(1) != arguments.at(operands - results + r) ||
        problem::scalar_facts(ir.name(product)).kind != ScalarKind::kProduct)
      return {};
    const std::vector<MlirValue> factors = ir.operands(product);
    std::array pair{argument(factors.at(0)), argument(factors.at(1))};
    if (pair[0] > pair[1]) std::swap(pair[0], pair[1]);
    if (pair[0] == pair[1] || pair[1] >= operands - results) return {};
    found.push_back(pair);
  }
  return found;
}

bool is_load(std::string_view kind) {
  return is_any_of(kind, {"iree_tensor_ext.dispatch.tensor.load", "iree_codegen.load_from_buffer"});
}

bool is_store(std::string_view kind) {
  return is_any_of(kind, {"iree_tensor_ext.dispatch.tensor.store", "iree_codegen.store_to_buffer"});
}

std::optional<double> fill_constant(const Ir& ir, MlirOperation operation) {
  if (!ir.is(operation, "linalg.fill")) return std::nullopt;
  const MlirOperation constant = ir.defining_operation(ir.operands(operation).at(0));
  if (!ir.is(constant, "arith.constant")) return std::nullopt;
  return ir.number(ir.attribute(constant, "value"));
}

double fill_under(const Ir& ir, MlirOperation root) {
  const std::vector<MlirValue> operands = ir.operands(root);
  if (operands.empty()) return 0;
  return fill_constant(ir, ir.defining_operation(operands.back())).value_or(0);
}

bool adds_to_an_input(const Ir& ir, MlirOperation root) {
  const std::vector<MlirValue> operands = ir.operands(root);
  if (operands.empty()) return false;
  // Follow the first operand from the value back to the buffer, through loads, casts, slices and
  // reshapes.
  MlirOperation from = ir.defining_operation(operands.back());
  while (is_load(ir.name(from)) ||
         is_any_of(ir.name(from), {"memref.assume_alignment", "tensor.cast", "tensor.extract_slice",
                                   "tensor.expand_shape", "tensor.collapse_shape"}))
    from = ir.defining_operation(ir.operands(from).at(0));
  if (!ir.is(from, "hal.interface.binding.subspan")) return false;
  return ir.type_text(ir.results(from).at(0)).find("<readonly:") != std::string::npos;
}

std::string in_words(const Ir& ir, MlirOperation operation) {
  const std::string name(ir.name(operation));
  const std::string plain = name.substr(name.find('.') + 1);
  if (name == "linalg.fill" && !fill_constant(ir, operation)) return "fill(computed)";
  if (!is_any_of(name, {"linalg.generic", "linalg.elementwise", "linalg.map"})) return plain;
  const std::vector<std::string> body = body_names(ir, operation);
  if (body.empty()) return movement(indexing_maps(ir, operation));
  const auto described = describe_operation(ir, operation);
  const bool reduces = described && has_reduction(described->loops);
  return fmt::format("{}({})", reduces ? "reduction" : "elementwise", fmt::join(body, ", "));
}

}  // namespace hone::iree
