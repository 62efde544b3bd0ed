#include "provider/iree/program/stand_alone.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "provider/iree/compiler/attributes.h"

namespace hone::iree {
namespace {

constexpr std::string_view kMeasuredWorkload = "measured_workload",
                           kMeasuredConstants = "measured_constants";

bool is_device(const Ir& ir, MlirOperation operation) {
  return ir.is(operation, "util.global") &&
         ir.text(ir.attribute(operation, "type")) == "!hal.device";
}

}  // namespace

std::string stand_alone_text(const Ir& ir, const OwnedModule& program,
                             const std::string& executable) {
  const OwnedModule copy = program.clone();
  for (const MlirOperation operation : ir.children(copy.get())) {
    if (ir.is(operation, "hal.executable") && ir.symbol(operation) == executable)
      ir.set_attribute(operation, "sym_visibility", std::string("\"public\""));
    else if (!is_device(ir, operation))
      ir.api().mlirOperationDestroy(operation);
  }
  return ir.text(copy.get());
}

std::string with_launch_values(const Ir& ir, const OwnedModule& dispatch,
                               const LaunchValues& values) {
  const OwnedModule copy = dispatch.clone();
  const auto set = [&](MlirOperation operation, std::string_view name, const auto& numbers) {
    if (!numbers.empty())
      ir.set_attribute(operation, name, fmt::format("array<i64: {}>", fmt::join(numbers, ", ")));
  };
  for (const MlirOperation each : exports_in(ir, copy.get())) {
    set(each, kMeasuredWorkload, values.workload);
    set(each, kMeasuredConstants, values.constants);
  }
  return ir.text(copy.get());
}

LaunchValues launch_values(const Ir& ir, MlirOperation export_operation) {
  LaunchValues values{ir.long_integers(ir.attribute(export_operation, kMeasuredWorkload)), {}};
  for (const std::int64_t word :
       ir.long_integers(ir.attribute(export_operation, kMeasuredConstants)))
    values.constants.push_back(static_cast<std::uint32_t>(word));
  return values;
}

void remove_configurations(const Ir& ir, const OwnedModule& module) {
  std::vector<MlirOperation> computed;
  ir.walk(module.get(), [&](MlirOperation operation) {
    for (const char* name : {"lowering_config", "translation_info", "root_op"})
      if (ir.attribute(operation, name)) ir.remove_attribute(operation, name);
    if (ir.is(operation, "iree_codegen.dispatch_config")) computed.push_back(operation);
  });
  for (const MlirOperation operation : computed) ir.api().mlirOperationDestroy(operation);
}

}  // namespace hone::iree
