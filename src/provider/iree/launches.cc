#include "provider/iree/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace hone::iree {
namespace {

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
  std::vector<MlirValue> workload, constants;
};

void add_launch(const Sizes& sizes, const LaunchOperands& operands, bool called,
                Launches& launches) {
  LaunchValues values;
  const auto known = [&](MlirValue operand) {
    const auto value = sizes.integer(operand);
    if (!value) launches.not_static = "it takes values that are known only at run time";
    return value.value_or(0);
  };
  for (const MlirValue operand : operands.constants)
    values.constants.push_back(static_cast<std::uint32_t>(known(operand)));
  for (const MlirValue operand : operands.workload) values.workload.push_back(known(operand));
  auto same = std::ranges::find(launches.different, values, &Launches::Different::values);
  if (same == launches.different.end())
    same = launches.different.insert(same, {std::move(values), 0});
  if (called) ++same->per_call;
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
        operands = {segment(ir, operation, 0), segment(ir, operation, 1)};
      } else if (ir.is(operation, "hal.command_buffer.dispatch")) {
        const auto function = segment(ir, operation, 2);
        if (!function.empty())
          entries = {ir.attribute(ir.defining_operation(function[0]), "entry_point")};
        operands = {{}, segment(ir, operation, 6)};
      }
      for (const MlirAttribute entry : entries)
        if (entry.ptr != nullptr) add_launch(sizes, operands, called, found[key(entry)]);
    });
  }
  return found;
}

}  // namespace hone::iree
