#include "provider/iree/stand_alone.h"

#include <vector>

namespace hone::iree {
namespace {

bool is_device(const Ir& ir, MlirOperation operation) {
  return ir.is(operation, "util.global") &&
         ir.text(ir.attribute(operation, "type")) == "!hal.device";
}

}  // namespace

std::string stand_alone_text(const Ir& ir, const OwnedModule& program,
                             const std::string& executable) {
  const OwnedModule copy = program.clone();
  const MlirContext context = ir.api().mlirOperationGetContext(copy.get());
  for (const MlirOperation operation : ir.children(copy.get())) {
    if (ir.is(operation, "hal.executable") && ir.symbol(operation) == executable)
      ir.set_attribute(operation, "sym_visibility", ir.parse_attribute(context, "\"public\""));
    else if (!is_device(ir, operation))
      ir.api().mlirOperationDestroy(operation);
  }
  return ir.text(copy.get());
}

void remove_configurations(const Ir& ir, const OwnedModule& module) {
  std::vector<MlirOperation> computed;
  ir.walk(module.get(), [&](MlirOperation operation) {
    for (const char* name : {"lowering_config", "translation_info", "root_op"})
      if (ir.attribute(operation, name).ptr != nullptr) ir.remove_attribute(operation, name);
    if (ir.is(operation, "iree_codegen.dispatch_config")) computed.push_back(operation);
  });
  for (const MlirOperation operation : computed) ir.api().mlirOperationDestroy(operation);
}

}  // namespace hone::iree
