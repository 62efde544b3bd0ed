#include "provider/iree/program/reached_operations.h"

#include <algorithm>

namespace hone::iree {

ReachedOperations::ReachedOperations(const Ir& ir, const OwnedModule& module,
                                     const problem::Function& function)
    : ir_(ir), function_(function) {
  for (const MlirOperation each : ir.children(module.get(), "util.func"))
    functions_.emplace(ir.symbol(each), each);
  if (const auto found = functions_.find(function.name); found != functions_.end())
    reach(found->second);
}

void ReachedOperations::reach(MlirOperation function) {
  if (!reached_.insert(function).second) return;
  ir_.walk(function, [&](MlirOperation operation) {
    if (!ir_.is(operation, "util.call")) {
      all_.push_back(operation);
      return;
    }
    const MlirOperation called = callee(operation);
    if (!called) return;
    calls_[called].push_back(operation);
    reach(called);
  });
}

MlirOperation ReachedOperations::callee(MlirOperation call) const {
  const auto found = functions_.find(ir_.leaf_symbol(ir_.attribute(call, "callee")));
  return found == functions_.end() ? MlirOperation{} : found->second;
}

std::vector<MlirOperation> ReachedOperations::calls_of(MlirOperation function) const {
  const auto found = calls_.find(function);
  return found == calls_.end() ? std::vector<MlirOperation>() : found->second;
}

std::int64_t ReachedOperations::extent_of(MlirValue tensor, std::size_t d) const {
  const MlirType type = ir_.api().mlirValueGetType(tensor);
  if (!ir_.api().mlirTypeIsAShaped(type) || !ir_.api().mlirShapedTypeHasRank(type) ||
      static_cast<std::intptr_t>(d) >= ir_.api().mlirShapedTypeGetRank(type))
    return problem::kDynamic;
  const auto dimension = static_cast<std::intptr_t>(d);
  if (!ir_.api().mlirShapedTypeIsDynamicDim(type, dimension))
    return ir_.api().mlirShapedTypeGetDimSize(type, dimension);
  const MlirOperation operation = ir_.defining_operation(tensor);
  if (operation)
    return ir_.is(operation, "hal.tensor.import") || ir_.is(operation, "tensor.cast")
               ? input_extent(ir_.operands(operation).at(0), d)
               : problem::kDynamic;
  return input_extent(tensor, d);
}

std::int64_t ReachedOperations::input_extent(MlirValue value, std::size_t d) const {
  const auto input = input_of(value);
  if (!input || d >= function_.inputs[*input].shape.size()) return problem::kDynamic;
  return function_.inputs[*input].shape[d];
}

std::optional<std::size_t> ReachedOperations::input_of(MlirValue value) const {
  const auto argument = ir_.argument(value);
  if (!argument || !ir_.is(argument->of, "util.func")) return std::nullopt;
  const auto [parent, number] = *argument;
  if (ir_.symbol(parent) == function_.name)
    return number < function_.inputs.size() ? std::optional(number) : std::nullopt;
  const auto calls = calls_.find(parent);
  if (calls == calls_.end() || calls->second.size() != 1) return std::nullopt;
  const std::vector<MlirValue> given = ir_.operands(calls->second.front());
  return number < given.size() ? input_of(given[number]) : std::nullopt;
}

std::vector<std::int64_t> ReachedOperations::loop_extents(MlirOperation generic) const {
  std::vector<std::int64_t> extents;
  const std::vector<MlirAttribute> maps = ir_.elements(ir_.attribute(generic, "indexing_maps"));
  const std::vector<MlirValue> operands = ir_.operands(generic);
  for (std::size_t i = 0; i < maps.size() && i < operands.size(); ++i) {
    const MlirAffineMap map = ir_.api().mlirAffineMapAttrGetValue(maps[i]);
    extents.resize(static_cast<std::size_t>(ir_.api().mlirAffineMapGetNumDims(map)),
                   problem::kDynamic);
    for (std::intptr_t r = 0; r < ir_.api().mlirAffineMapGetNumResults(map); ++r) {
      const MlirAffineExpr result = ir_.api().mlirAffineMapGetResult(map, r);
      if (!ir_.api().mlirAffineExprIsADim(result)) continue;
      std::int64_t& extent =
          extents[static_cast<std::size_t>(ir_.api().mlirAffineDimExprGetPosition(result))];
      if (extent == problem::kDynamic) extent = extent_of(operands[i], static_cast<std::size_t>(r));
    }
  }
  return extents;
}

}  // namespace hone::iree
