#include "provider/iree/compiler/attributes.h"

namespace hone::iree {
provider::Payload payload_of(const Attributes& attributes) {
  return {nlohmann::json(attributes)};
}

Result<Attributes> attributes_from(const provider::Payload& payload) {
  try {
    return payload.json.get<Attributes>();
  } catch (const nlohmann::json::exception& error) {
    return failure("a configuration for IREE cannot be read: {}", error.what());
  }
}

provider::Payload MadeTexts::to_payload() const {
  return {nlohmann::json(*this)};
}

Result<MadeTexts> made_texts_from(const provider::Payload& more) {
  try {
    return more.json.get<MadeTexts>();
  } catch (const nlohmann::json::exception& error) {
    return failure("IREE's attributes of a configuration cannot be read: {}", error.what());
  }
}

std::vector<MlirOperation> exports_in(const Ir& ir, MlirOperation operation) {
  std::vector<MlirOperation> exports;
  const auto collect = [&](MlirOperation executable) {
    // Only the first variant counts: the others are the same code for other targets.
    for (const MlirOperation variant : ir.children(executable, "hal.executable.variant")) {
      for (const MlirOperation each : ir.children(variant, "hal.executable.export"))
        exports.push_back(each);
      return;
    }
  };
  if (ir.is(operation, "hal.executable")) collect(operation);
  for (const MlirOperation executable : ir.children(operation, "hal.executable"))
    collect(executable);
  return exports;
}

MlirOperation function_of(const Ir& ir, MlirOperation export_operation) {
  const std::string name = ir.symbol(export_operation);
  const MlirOperation variant = ir.api().mlirOperationGetParentOperation(export_operation);
  for (const MlirOperation module : ir.children(variant, "builtin.module"))
    for (const MlirOperation function : ir.children(module, "func.func"))
      if (ir.symbol(function) == name) return function;
  return {};
}

std::vector<MlirOperation> structured_operations(const Ir& ir, MlirOperation function) {
  return ir.all(function, [&](MlirOperation operation) {
    const std::string_view name = ir.name(operation);
    const bool terminator = name.ends_with(".yield") || name == "linalg.index";
    return (name.starts_with("linalg.") || name.starts_with("iree_linalg_ext.")) && !terminator;
  });
}

std::vector<MlirOperation> marked_roots(const Ir& ir, MlirOperation function) {
  return ir.all(function, [&](MlirOperation operation) {
    return static_cast<bool>(ir.attribute(operation, "root_op"));
  });
}

MlirOperation same_location(const Ir& ir, MlirOperation function, MlirOperation operation) {
  const MlirLocation wanted = ir.api().mlirOperationGetLocation(operation);
  return ir.find(function, [&](MlirOperation each) {
    return ir.api().mlirOperationGetLocation(each) == wanted;
  });
}

Attributes configuration_of(const Ir& ir, MlirOperation function, MlirOperation root) {
  Attributes read;
  if (root) {
    read.lowering_config = ir.text(ir.attribute(root, "lowering_config"));
    read.decomposition_config = ir.text(ir.attribute(root, "decomposition_config"));
  }
  read.translation_info = ir.text(ir.attribute(function, "translation_info"));
  return read;
}

}  // namespace hone::iree
