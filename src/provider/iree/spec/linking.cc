#include "provider/iree/spec/linking.h"

#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {
namespace {

constexpr char kLinkPass[] = "iree-codegen-link-tuning-specs";

// A file taken apart: what stands before its module, comments or aliases of attributes, which only
// a file's outermost level may have; and the module under a name of its own.
struct Parts {
  std::string head, module;
};

Result<Parts> parts_of(const std::string& text, const std::string& name, const std::string& path) {
  constexpr std::string_view kModule = "module";
  std::size_t at = text.starts_with(kModule) ? 0 : text.find("\nmodule");
  if (at != 0 && at != std::string::npos) ++at;
  const std::size_t body =
      at == std::string::npos ? at : text.find_first_of("{a", at + kModule.size());
  if (body == std::string::npos) return input_error("'{}' holds no module", path);
  return Parts{text.substr(0, at), "module @" + name + " " + text.substr(body)};
}

Result<std::string> printed(const CompilerSession& session, const std::string& path,
                            std::string_view bytes) {
  Invocation invocation(session);
  if (!invocation.parse(path, bytes))
    return input_error("'{}' is no tuning spec that IREE reads:\n{}", path,
                       invocation.diagnostics());
  const OwnedModule module = invocation.take_module();
  return Ir(session.api()).text(module.get());
}

}  // namespace

Result<std::string> link_specs(const Library& library, const std::string& path,
                               std::string_view first, std::string_view second) {
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, {}));
  HONE_ASSIGN(const Parts own, parts_of(std::string(first), "first", "hone's spec"));
  // Print through the compiler: bytecode becomes text, with every alias at the head.
  HONE_ASSIGN(const std::string text, printed(session, path, second));
  HONE_ASSIGN(const Parts other, parts_of(text, "second", path));
  const std::string both = other.head +
                           "module @linked attributes {transform.with_named_sequence} {\n" +
                           own.module + "\n" + other.module + "\n}\n";
  Invocation invocation(session);
  if (!invocation.parse(path, both) || !invocation.run_passes(kLinkPass))
    return input_error("'{}' cannot be linked with what was found:\n{}", path,
                       invocation.diagnostics());
  const OwnedModule linked = invocation.take_module();
  return own.head + Ir(session.api()).text(linked.get()) + "\n";
}

}  // namespace hone::iree
