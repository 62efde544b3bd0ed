// A configuration on a dispatch's root operation and the operations around it, as the compiler's
// attributes.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "provider/artifact.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/ir.h"
#include "provider/iree/program/dispatch_ir.h"

namespace hone::iree {

// Makes a compile error from the compiler's diagnostics. `what`: the step that failed, for a
// compiler that says nothing.
tl::unexpected<provider::Failure> compile_error(const Invocation& invocation,
                                                std::string_view what);

// Configures one copy of a dispatch's module, once. References outlive it.
class RootConfiguration {
 public:
  using Step = tl::expected<void, provider::Failure>;

  // `from_configured`: the copy is of DispatchIr::configured, and what the compiler configured
  // there is replaced.
  RootConfiguration(const CompilerSession& session, const DispatchIr& dispatch, const Ir& ir,
                    const Invocation& invocation, bool from_configured)
      : session_(session),
        dispatch_(dispatch),
        ir_(ir),
        invocation_(invocation),
        from_configured_(from_configured) {}

  // Sets the attributes in the function of the copy's export, as a tuning spec does. Failures:
  // kNotApplied where the dispatch has no such operations, kCompileError for attributes that the
  // compiler cannot read or make.
  Step annotate(MlirOperation export_operation, const Attributes& wanted);
  // Whether the function and an operation in it still have the attributes.
  bool is_configured(MlirOperation function) const;

  // The attributes as the compiler prints them; empty before annotate().
  std::string lowering_config() const { return ir_.text(lowering_); }
  MadeTexts made_texts() const { return {ir_.text(translation_), ir_.text(decomposition_)}; }

 private:
  Step annotate_found(const Attributes& wanted, MlirOperation function, MlirOperation root);
  Step annotate_siblings(const Attributes& wanted, MlirOperation function, MlirOperation root);
  Step annotate_surrounding(const Attributes& wanted, MlirOperation function, MlirOperation root);
  Step parse(const Attributes& wanted, MlirAttribute& info);
  Step parse(const std::string& text, std::string_view what, MlirAttribute& parsed);
  Step materialise(const Attributes& wanted, MlirAttribute& info);
  Step set_lowering_config(MlirOperation operation, const std::string& text);

  const CompilerSession& session_;
  const DispatchIr& dispatch_;
  const Ir& ir_;
  const Invocation& invocation_;
  bool from_configured_;
  MlirAttribute lowering_, translation_, decomposition_;
};

}  // namespace hone::iree
