#include "provider/iree/bindings.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace hone::iree {
namespace {

using problem::Access;
using problem::Binding;
using problem::BindingUse;

struct Subspan {
  std::size_t ordinal = 0;
  MlirValue value;
  std::string type;
};

std::vector<Subspan> subspans_of(const Ir& ir, MlirOperation function) {
  std::vector<Subspan> subspans;
  ir.walk(function, [&](MlirOperation operation) {
    if (!ir.is(operation, "hal.interface.binding.subspan")) return;
    const auto ordinal = ir.integer_value(ir.attribute(operation, "binding")).value_or(0);
    const MlirValue value = ir.results(operation).at(0);
    subspans.push_back(
        {static_cast<std::size_t>(ordinal), value, ir.text(ir.api().mlirValueGetType(value))});
  });
  return subspans;
}

// Ordinals of the bindings that `value` is computed from.
void trace_back(const Ir& ir, MlirValue value, std::set<const void*>& seen,
                std::set<std::size_t>& ordinals) {
  const MlirOperation operation = ir.defining_operation(value);
  if (operation.ptr == nullptr || !seen.insert(operation.ptr).second) return;
  if (ir.is(operation, "hal.interface.binding.subspan"))
    ordinals.insert(
        static_cast<std::size_t>(ir.integer_value(ir.attribute(operation, "binding")).value_or(0)));
  for (const MlirValue operand : ir.operands(operation)) trace_back(ir, operand, seen, ordinals);
}

// Before bufferization the type says the access; after it (benchmark files) the uses do.
Access access_of(const Ir& ir, MlirOperation function, const Subspan& subspan) {
  if (subspan.type.find("<readonly:") != std::string::npos) return Access::kReadOnly;
  if (subspan.type.find("<writeonly:") != std::string::npos) return Access::kWriteOnly;
  if (subspan.type.find("<readwrite:") != std::string::npos) return Access::kReadWrite;
  bool read = false, written = false;
  ir.walk(function, [&](MlirOperation operation) {
    const bool store = ir.is(operation, "iree_codegen.store_to_buffer");
    for (const MlirValue operand : ir.operands(operation))
      if (ir.api().mlirValueEqual(operand, subspan.value)) (store ? written : read) = true;
  });
  if (read && written) return Access::kReadWrite;
  return written ? Access::kWriteOnly : Access::kReadOnly;
}

Access combined(Access a, Access b) {
  return a == b ? a : Access::kReadWrite;
}

bool uses_indices(const Ir& ir, MlirOperation function) {
  return ir.find(function, [&](MlirOperation operation) {
             const std::string_view name = ir.name(operation);
             return name == "arith.index_cast" || name == "arith.index_castui" ||
                    name.ends_with(".gather") || name.ends_with(".scatter");
           }).ptr != nullptr;
}

// Values of one operand segment of an operation with `operandSegmentSizes`.
std::vector<MlirValue> segment(const Ir& ir, MlirOperation operation, std::size_t index) {
  const std::vector<int> sizes = ir.integers(ir.attribute(operation, "operandSegmentSizes"));
  const std::vector<MlirValue> all = ir.operands(operation);
  if (index >= sizes.size()) return {};
  const auto begin = std::accumulate(sizes.begin(), sizes.begin() + static_cast<long>(index), 0L);
  return {all.begin() + begin, all.begin() + begin + sizes[index]};
}

// The operands of one launch.
struct LaunchOperands {
  std::vector<MlirValue> workload, constants, lengths;
};

void add_launch(const Sizes& sizes, const LaunchOperands& operands, Launches& launches) {
  const auto& lengths = operands.lengths;
  launches.bytes.resize(std::max(launches.bytes.size(), lengths.size()), 0);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto length = sizes.integer(lengths[i]);
    if (!length || launches.bytes[i] < 0)
      launches.bytes[i] = -1;
    else
      launches.bytes[i] = std::max(launches.bytes[i], *length);
  }
  std::vector<std::uint32_t> words;
  for (const MlirValue constant : operands.constants) {
    const auto value = sizes.integer(constant);
    if (!value) launches.not_static = "it takes values that are known only at run time";
    words.push_back(static_cast<std::uint32_t>(value.value_or(0)));
  }
  std::vector<std::int64_t> workload;
  for (const MlirValue each : operands.workload) {
    const auto value = sizes.integer(each);
    if (!value) launches.not_static = "it takes values that are known only at run time";
    workload.push_back(value.value_or(0));
  }
  if (launches.per_call > 0 && (launches.constants != words || launches.workload != workload))
    launches.not_static = "the program launches it with different constants";
  launches.workload = launches.not_static.empty() ? workload : std::vector<std::int64_t>();
  launches.constants = launches.not_static.empty() ? words : std::vector<std::uint32_t>();
}

}  // namespace

std::map<std::string, Launches> find_launches(const Ir& ir, const OwnedModule& program,
                                              const Sizes& sizes) {
  std::map<std::string, Launches> found;
  const auto key = [&](MlirAttribute entry) {
    const MlirStringRef root = ir.api().mlirSymbolRefAttrGetRootReference(entry);
    return fmt::format("{}::{}", std::string_view(root.data, root.length), ir.leaf_symbol(entry));
  };
  for (const MlirOperation top : ir.children(program.get())) {
    const bool called = ir.is(top, "util.func");
    if (!called && !ir.is(top, "util.initializer")) continue;
    ir.walk(top, [&](MlirOperation operation) {
      std::vector<MlirAttribute> entries;
      LaunchOperands operands;
      // Operand segments as the compiler's StreamOps.td and HALOps.td order them.
      if (ir.is(operation, "stream.cmd.dispatch")) {
        entries = ir.elements(ir.attribute(operation, "entry_points"));
        operands = {segment(ir, operation, 0), segment(ir, operation, 1),
                    segment(ir, operation, 5)};
      } else if (ir.is(operation, "hal.command_buffer.dispatch")) {
        const auto function = segment(ir, operation, 2);
        if (!function.empty())
          entries = {ir.attribute(ir.defining_operation(function[0]), "entry_point")};
        operands = {{}, segment(ir, operation, 6), segment(ir, operation, 9)};
      }
      for (const MlirAttribute entry : entries) {
        if (entry.ptr == nullptr) continue;
        Launches& launches = found[key(entry)];
        add_launch(sizes, operands, launches);
        if (called) ++launches.per_call;
      }
    });
  }
  return found;
}

Result<std::vector<Binding>> describe_bindings(const Ir& ir, MlirOperation function,
                                               MlirOperation root, const Launches& launches,
                                               const Sizes& kernel) {
  const std::vector<Subspan> subspans = subspans_of(ir, function);
  std::set<std::size_t> root_inputs;
  std::set<const void*> seen;
  if (root.ptr != nullptr)
    for (const MlirValue operand : ir.operands(root)) trace_back(ir, operand, seen, root_inputs);
  const bool indices = uses_indices(ir, function);

  std::vector<Binding> bindings;
  std::set<std::size_t> described;
  for (const Subspan& subspan : subspans) {
    const std::size_t i = subspan.ordinal;
    if (i >= bindings.size()) bindings.resize(i + 1);
    Binding& binding = bindings[i];
    const Access access = access_of(ir, function, subspan);
    binding.access = described.insert(i).second ? access : combined(binding.access, access);
    auto type = parse_type(subspan.type);
    if (!type)
      return input_error("binding {} has type {}, which hone does not know", i, subspan.type);
    if (const auto known = kernel.type(subspan.value)) type = known;
    const std::int64_t bytes =
        is_dynamic(*type) ? 0 : element_count(*type) * byte_size(type->element);
    if (bytes >= binding.bytes) {  // several views of one buffer: the largest describes it
      binding.type = *type;
      binding.bytes = bytes;
    }
    const bool integer =
        type->element == problem::ElementType::kI32 || type->element == problem::ElementType::kI64;
    if (binding.access != Access::kReadOnly)
      binding.use = BindingUse::kOutput;
    else if (indices && integer)
      binding.use = BindingUse::kIndexInput;
    else
      binding.use = root_inputs.contains(i) ? BindingUse::kRootInput : BindingUse::kFusedInput;
  }
  for (std::size_t i = 0; i < bindings.size() && i < launches.bytes.size(); ++i)
    bindings[i].bytes = std::max(bindings[i].bytes, launches.bytes[i]);
  return bindings;
}

}  // namespace hone::iree
