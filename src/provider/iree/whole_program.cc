#include "provider/iree/whole_program.h"

#include <algorithm>
#include <charconv>

#include "provider/iree/program/derived_modules.h"
#include "provider/iree/program/dispatch_ir.h"
#include "provider/iree/spec/tuning_spec.h"

namespace hone::iree {
namespace {

const char* phase_before(ModuleKind kind) {
  switch (kind) {
    case ModuleKind::kProgram:
      return kStart;
    case ModuleKind::kFrontendIr:
      return kStream;
    case ModuleKind::kDispatch:
      return kExecutableSources;
  }
  return kStart;
}

// The pipeline goes on without a transform library that it cannot read, and calls that a success.
Status run(const CompilerSession& session, Invocation& invocation, ModuleKind kind, const char* to,
           const std::string& path, std::string_view bytes, const std::vector<std::string>& flags) {
  const bool library = std::ranges::any_of(
      flags, [](const std::string& flag) { return flag.starts_with(kTransformLibraryFlag); });
  const auto refused = [&](const Invocation& by) {
    return input_error("IREE cannot compile '{}':\n{}", path, by.diagnostics());
  };
  if (kind == ModuleKind::kProgram) {
    Invocation parse(session);
    if (!parse.parse(path, bytes)) return refused(parse);
    OwnedModule module = parse.take_module();
    HONE_TRY(unconfigure(session, module));
    if (!invocation.import(std::move(module))) return refused(invocation);
  } else if (!invocation.parse(path, bytes)) {
    return refused(invocation);
  }
  if (!invocation.run(phase_before(kind), to) || (library && !invocation.diagnostics().empty()))
    return refused(invocation);
  return {};
}

std::vector<int> marks_of(const Ir& ir, MlirOperation function) {
  const CApi& api = ir.api();
  std::vector<int> marks;
  for (std::intptr_t i = 0; i < api.mlirOperationGetNumAttributes(function); ++i) {
    std::string_view name =
        to_view(api.mlirIdentifierStr(api.mlirOperationGetAttribute(function, i).name));
    if (!name.starts_with(kMarkPrefix)) continue;
    name.remove_prefix(std::string_view(kMarkPrefix).size());
    int entry = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), entry).ec == std::errc())
      marks.push_back(entry);
  }
  std::ranges::sort(marks);
  return marks;
}

}  // namespace

Result<std::string> frontend_ir(const CompilerLibrary& library, const std::string& path,
                                std::string_view bytes, const std::vector<std::string>& flags) {
  HONE_ASSIGN(const CompilerSession session,
              CompilerSession::create(library, flags, Threads::kAll));
  Invocation invocation(session);
  HONE_TRY(run(session, invocation, ModuleKind::kProgram, kStream, path, bytes, flags));
  return invocation.ir();
}

Result<std::string> compile_program(const CompilerLibrary& library, const std::string& path,
                                    std::string_view bytes, const std::vector<std::string>& flags,
                                    ModuleKind kind) {
  HONE_ASSIGN(const CompilerSession session,
              CompilerSession::create(library, flags, Threads::kAll));
  Invocation invocation(session);
  HONE_TRY(run(session, invocation, kind, kEnd, path, bytes, flags));
  return invocation.vm_bytecode();
}

Result<std::vector<provider::jobs::ConfiguredDispatch>> configured_dispatches(
    const CompilerLibrary& library, const std::string& path, std::string_view bytes,
    const std::vector<std::string>& flags, ModuleKind kind) {
  std::vector<std::string> all = flags;
  all.emplace_back(kTunerAttributesFlag);
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, all, Threads::kAll));
  const Ir ir(session.api());
  Invocation invocation(session);
  HONE_TRY(run(session, invocation, kind, kExecutableConfigurations, path, bytes, flags));
  const OwnedModule module = invocation.take_module();
  std::vector<provider::jobs::ConfiguredDispatch> dispatches;
  for (const MlirOperation each : exports_in(ir, module.get())) {
    const MlirOperation function = function_of(ir, each);
    if (!function) continue;
    const MlirOperation root = configured_root(ir, function);
    dispatches.push_back({.name = ir.symbol(each),
                          .payload = payload_of(configuration_of(ir, function, root)),
                          .marks = marks_of(ir, function)});
  }
  return dispatches;
}

Result<std::string> configured_text(const CompilerLibrary& library, const std::string& name,
                                    std::string_view source,
                                    const std::vector<std::string>& flags) {
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, flags));
  Invocation invocation(session);
  HONE_TRY(run(session, invocation, ModuleKind::kDispatch, kExecutableConfigurations, name, source,
               flags));
  const OwnedModule module = invocation.take_module();
  return Ir(session.api()).text(module.get());
}

Status compile_dispatch(const CompilerLibrary& library, const std::string& name,
                        std::string_view source, const std::vector<std::string>& flags) {
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, flags));
  Invocation invocation(session);
  return run(session, invocation, ModuleKind::kDispatch, kHal, name, source, flags);
}

Result<std::string> canonical_attribute(const CompilerLibrary& library, const std::string& text) {
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, {}));
  const Ir ir(session.api());
  // An invocation that has parsed something takes the context's diagnostics.
  Invocation invocation(session);
  if (!invocation.parse("attribute", "module {}"))
    return input_error("{}", invocation.diagnostics());
  const MlirAttribute attribute = ir.parse_attribute(session.context(), text);
  if (!attribute)
    return input_error("'{}' is no attribute that IREE knows: {}", text, invocation.diagnostics());
  return ir.text(attribute);
}

}  // namespace hone::iree
