#include "provider/iree/whole_program.h"

#include "provider/iree/dispatch_ir.h"

namespace hone::iree {

Result<std::string> compile_program(const Library& library, const std::string& path,
                                    std::string_view bytes, const std::vector<std::string>& flags) {
  HONE_ASSIGN(const Session session, Session::create(library, flags));
  Invocation invocation(session);
  if (!invocation.parse(path, bytes) || !invocation.run(kStart, kEnd))
    return input_error("IREE cannot compile '{}':\n{}", path, invocation.diagnostics());
  return invocation.vm_bytecode();
}

Result<std::vector<ConfiguredDispatch>> configured_dispatches(
    const Library& library, const std::string& path, std::string_view bytes,
    const std::vector<std::string>& flags) {
  std::vector<std::string> all = flags;
  all.emplace_back(kTunerAttributesFlag);
  HONE_ASSIGN(const Session session, Session::create(library, all));
  const Ir ir(session.api());
  Invocation invocation(session);
  if (!invocation.parse(path, bytes) || !invocation.run(kStart, kExecutableConfigurations))
    return input_error("IREE cannot compile '{}':\n{}", path, invocation.diagnostics());
  const OwnedModule module = invocation.take_module();
  std::vector<ConfiguredDispatch> dispatches;
  for (const MlirOperation each : exports_in(ir, module.get())) {
    const MlirOperation function = function_of(ir, each);
    if (function.ptr == nullptr) continue;
    const MlirOperation root = configured_root(ir, function);
    const ConfigurationAttributes read = configuration_of(ir, function, root);
    dispatches.push_back({.executable = executable_of(ir, each),
                          .name = ir.symbol(each),
                          .root = root.ptr == nullptr ? "" : std::string(ir.name(root)),
                          .lowering_config = read.lowering_config,
                          .translation_info = read.translation_info});
  }
  return dispatches;
}

Result<std::string> canonical_attribute(const Library& library, const std::string& text) {
  HONE_ASSIGN(const Session session, Session::create(library, {}));
  const Ir ir(session.api());
  // An invocation that has parsed something takes the context's diagnostics.
  Invocation invocation(session);
  if (!invocation.parse("attribute", "module {}"))
    return input_error("{}", invocation.diagnostics());
  const MlirAttribute attribute = ir.parse_attribute(session.context(), text);
  if (attribute.ptr == nullptr)
    return input_error("'{}' is no attribute that IREE knows: {}", text, invocation.diagnostics());
  return ir.text(attribute);
}

}  // namespace hone::iree
