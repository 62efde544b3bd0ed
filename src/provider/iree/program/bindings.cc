#include <algorithm>
#include <set>

#include "provider/iree/program/root_operation.h"
#include "provider/iree/program/views.h"

namespace hone::iree {

namespace {

using problem::Access;
using problem::Binding;
using problem::BindingUse;

// Places of the views that `value` is computed from.
void trace_back(const Ir& ir, const Views& views, MlirValue value, std::set<MlirOperation>& seen,
                std::set<int>& found) {
  const MlirOperation operation = ir.defining_operation(value);
  if (!operation || !seen.insert(operation).second) return;
  if (const int view = views.of(operation); view >= 0) found.insert(view);
  for (const MlirValue operand : ir.operands(operation))
    trace_back(ir, views, operand, seen, found);
}

// Reads the access from the type before bufferization, and from the uses after it (benchmark
// files).
Access access_of(const Ir& ir, MlirOperation function, MlirOperation subspan) {
  const MlirValue value = ir.results(subspan).at(0);
  const std::string type = ir.type_text(value);
  if (type.find("<readonly:") != std::string::npos) return Access::kReadOnly;
  if (type.find("<writeonly:") != std::string::npos) return Access::kWriteOnly;
  if (type.find("<readwrite:") != std::string::npos) return Access::kReadWrite;
  bool read = false, written = false;
  ir.walk(function, [&](MlirOperation operation) {
    const bool store = ir.is(operation, "iree_codegen.store_to_buffer");
    for (const MlirValue operand : ir.operands(operation))
      if (operand == value) (store ? written : read) = true;
  });
  if (read && written) return Access::kReadWrite;
  return written ? Access::kWriteOnly : Access::kReadOnly;
}

Access access_of(const Ir& ir, MlirOperation function, const View& view) {
  const Access first = access_of(ir, function, view.subspans.front());
  const bool same = std::ranges::all_of(view.subspans, [&](MlirOperation subspan) {
    return access_of(ir, function, subspan) == first;
  });
  return same ? first : Access::kReadWrite;
}

bool uses_indices(const Ir& ir, MlirOperation function) {
  return static_cast<bool>(ir.find(function, [&](MlirOperation operation) {
    const std::string_view name = ir.name(operation);
    return is_any_of(name, {"arith.index_cast", "arith.index_castui"}) ||
           name.ends_with(".gather") || name.ends_with(".scatter");
  }));
}

bool is_integer(problem::ElementType type) {
  return type == problem::ElementType::kI32 || type == problem::ElementType::kI64;
}

// Each view is the whole of the binding that has its place.
bool are_whole(const std::vector<View>& views) {
  for (std::size_t i = 0; i < views.size(); ++i)
    if (views[i].ordinal != static_cast<int>(i) || views[i].offset != 0) return false;
  return true;
}

}  // namespace

Result<std::vector<Binding>> describe_bindings(const Ir& ir, MlirOperation function,
                                               MlirOperation root, const Views& views) {
  std::set<int> root_inputs;
  std::set<MlirOperation> seen;
  if (root)
    for (const MlirValue operand : ir.operands(root))
      trace_back(ir, views, operand, seen, root_inputs);
  const bool indices = uses_indices(ir, function), whole = are_whole(views.all());

  std::vector<Binding> bindings;
  for (const View& view : views.all()) {
    if (!view.type)
      return input_error("binding {} has type {}, which hone does not know", view.ordinal,
                         view.text);
    Binding binding;
    binding.access = access_of(ir, function, view);
    binding.type = *view.type;
    binding.bytes = view.bytes;
    if (binding.access != Access::kReadOnly)
      binding.use = BindingUse::kOutput;
    else if (indices && is_integer(view.type->element))
      binding.use = BindingUse::kIndexInput;
    else if (root_inputs.contains(static_cast<int>(bindings.size())))
      binding.use = BindingUse::kRootInput;
    else
      binding.use = BindingUse::kFusedInput;
    if (!whole) {
      binding.ordinal = view.ordinal;
      binding.offset = view.offset;
    }
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

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
