#include "provider/iree/program/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace hone::iree {
namespace {

// The operands of one launch.
struct LaunchOperands {
  std::vector<MlirValue> workload, constants;
  std::vector<MlirValue> resources, resource_offsets;  // of each binding
};

// Returns the value outside stream.cmd.execute that a block argument of it stands for; any other
// value as it is.
MlirValue captured(const Ir& ir, MlirValue value) {
  const auto argument = ir.argument(value);
  if (!argument || !ir.is(argument->of, "stream.cmd.execute")) return value;
  const std::vector<MlirValue> resources = operand_segment(ir, argument->of, 0);
  return argument->number < resources.size() ? resources[argument->number] : value;
}

// The function's argument that a resource is; -1 where it is something else.
int function_argument(const Ir& ir, MlirValue resource) {
  const MlirOperation made = ir.defining_operation(captured(ir, resource));
  if (!ir.is(made, "stream.tensor.import")) return -1;
  const auto argument = ir.argument(ir.operands(made).at(0));
  return argument ? static_cast<int>(argument->number) : -1;
}

void add_arguments(const Ir& ir, const LaunchOperands& operands, std::vector<int>& arguments) {
  std::vector<int> these;
  for (std::size_t i = 0; i < operands.resources.size(); ++i) {
    const bool whole =
        i < operands.resource_offsets.size() && ir.constant(operands.resource_offsets[i]) == 0;
    these.push_back(whole ? function_argument(ir, operands.resources[i]) : -1);
  }
  if (arguments.empty()) arguments = these;
  arguments.resize(std::max(arguments.size(), these.size()), -1);
  these.resize(arguments.size(), -1);
  for (std::size_t i = 0; i < these.size(); ++i)
    if (these[i] != arguments[i]) arguments[i] = -1;
}

// `function`: that launches it so often; empty for an initializer.
void add_launch(const Sizes& sizes, const LaunchOperands& operands, const std::string& function,
                const Count& count, Launches& launches) {
  LaunchValues values;
  for (const MlirValue operand : operands.constants) {
    const auto value = sizes.integer(operand);
    if (!value) values.unknown.push_back(values.constants.size());
    values.constants.push_back(static_cast<std::uint32_t>(value.value_or(0)));
  }
  for (const MlirValue operand : operands.workload) {
    const auto value = sizes.integer(operand);
    if (!value) launches.known = false;
    values.workload.push_back(value.value_or(0));
  }
  auto same = std::ranges::find(launches.different, values, &Launches::Different::values);
  if (same == launches.different.end())
    same = launches.different.insert(same, {std::move(values), {}});
  if (!function.empty()) same->in_functions[function] += count;
}

}  // namespace

std::string entry_point(const Ir& ir, MlirAttribute symbol) {
  return fmt::format("{}::{}", to_view(ir.api().mlirSymbolRefAttrGetRootReference(symbol)),
                     ir.leaf_symbol(symbol));
}

std::vector<MlirValue> operand_segment(const Ir& ir, MlirOperation operation, std::size_t index) {
  const std::vector<int> sizes = ir.integers(ir.attribute(operation, "operandSegmentSizes"));
  const std::vector<MlirValue> all = ir.operands(operation);
  if (index >= sizes.size()) return {};
  const auto begin = std::accumulate(sizes.begin(), sizes.begin() + static_cast<long>(index), 0L);
  return {all.begin() + begin, all.begin() + begin + sizes[index]};
}

std::map<std::string, Launches> find_launches(const Ir& ir, const OwnedModule& program,
                                              const Sizes& sizes) {
  std::map<std::string, Launches> found;
  for (const MlirOperation top : ir.children(program.get())) {
    const bool called = ir.is(top, "util.func");
    if (!called && !ir.is(top, "util.initializer")) continue;
    ir.walk(top, [&](MlirOperation operation) {
      std::vector<MlirAttribute> entries;
      LaunchOperands operands;
      // Operand segments as the compiler's StreamOps.td and HALOps.td order them.
      if (ir.is(operation, "stream.cmd.dispatch")) {
        entries = ir.elements(ir.attribute(operation, "entry_points"));
        operands = {operand_segment(ir, operation, 0), operand_segment(ir, operation, 1),
                    operand_segment(ir, operation, 2), operand_segment(ir, operation, 4)};
      } else if (ir.is(operation, "hal.command_buffer.dispatch")) {
        const auto function = operand_segment(ir, operation, 2);
        if (!function.empty())
          entries = {ir.attribute(ir.defining_operation(function[0]), "entry_point")};
        operands = {{}, operand_segment(ir, operation, 6), {}, {}};
      }
      for (const MlirAttribute entry : entries) {
        if (!entry) continue;
        Launches& launches = found[entry_point(ir, entry)];
        add_launch(sizes, operands, called ? ir.symbol(top) : std::string(),
                   {1, ir.in_branch_or_loop(operation)}, launches);
        if (called) add_arguments(ir, operands, launches.arguments);
      }
    });
  }
  return found;
}

}  // namespace hone::iree
