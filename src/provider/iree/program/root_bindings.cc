#include <algorithm>

#include "provider/iree/program/bindings.h"
#include "provider/iree/program/root_operation.h"

namespace hone::iree {
namespace {

constexpr int kUnknown = -1;

// Operations that give a tensor another shape and the same elements in the same order.
bool is_reshape(std::string_view name) {
  return is_any_of(name, {"tensor.collapse_shape", "tensor.expand_shape", "tensor.cast"});
}

// The place of the view that `buffer` is the whole of; kUnknown for a part of it.
int whole_binding(const Ir& ir, const Sizes& kernel, const Views& views, MlirValue buffer,
                  MlirValue tensor) {
  MlirOperation operation = ir.defining_operation(buffer);
  while (ir.is(operation, "memref.assume_alignment"))
    operation = ir.defining_operation(ir.operands(operation).at(0));
  const int view = !operation ? kUnknown : views.of(operation);
  if (view == kUnknown) return kUnknown;
  // Equal known shapes leave no room for an offset, a size or a stride inside the buffer.
  const auto whole = kernel.type(ir.results(operation).at(0)), part = kernel.type(tensor);
  if (!whole || !part || *whole != *part) return kUnknown;
  // A united view is larger than its parts: the tensor is then only a part of it.
  if (problem::element_count(*whole) * problem::byte_size(whole->element) !=
      views.all()[static_cast<std::size_t>(view)].bytes)
    return kUnknown;
  return view;
}

int binding_read(const Ir& ir, const Sizes& kernel, const Views& views, MlirValue value) {
  MlirOperation operation = ir.defining_operation(value);
  while (is_reshape(ir.name(operation))) {
    value = ir.operands(operation).at(0);
    operation = ir.defining_operation(value);
  }
  if (!is_load(ir.name(operation))) return kUnknown;
  return whole_binding(ir, kernel, views, ir.operands(operation).at(0), value);
}

int binding_written(const Ir& ir, const Sizes& kernel, const Views& views, MlirOperation function,
                    MlirValue result) {
  std::vector<MlirValue> same{result};
  int found = kUnknown;
  ir.walk(function, [&](MlirOperation operation) {
    const std::string_view name = ir.name(operation);
    if (!is_reshape(name) && !is_store(name)) return;
    const std::vector<MlirValue> operands = ir.operands(operation);
    if (std::ranges::count(same, operands.at(0)) == 0) return;
    if (is_reshape(name))
      same.push_back(ir.results(operation).at(0));
    else
      found = whole_binding(ir, kernel, views, operands.at(1), operands.at(0));
  });
  return found;
}

}  // namespace

std::vector<int> root_bindings(const Ir& ir, MlirOperation function, MlirOperation root,
                               const Sizes& kernel, const Views& views) {
  std::vector<int> bindings;
  const std::vector<MlirValue> operands = ir.operands(root), results = ir.results(root);
  const std::size_t inputs = operands.size() - std::min(operands.size(), results.size());
  for (std::size_t i = 0; i < inputs; ++i)
    bindings.push_back(binding_read(ir, kernel, views, operands[i]));
  for (const MlirValue result : results)
    bindings.push_back(binding_written(ir, kernel, views, function, result));
  return bindings;
}

}  // namespace hone::iree
