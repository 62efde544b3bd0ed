// A prepared dispatch: compiling a candidate costs only what its configuration changes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "provider/artifact.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

class PreparedDispatch {
 public:
  // Parses a dispatch's source (problem::Dispatch::source) and finds its root operation. Call it
  // once in a process that then forks for each candidate. `flags` as for load_program.
  static Result<PreparedDispatch> create(const CompilerLibrary& library, const std::string& source,
                                         const std::vector<std::string>& flags);
  PreparedDispatch(PreparedDispatch&&) noexcept;
  PreparedDispatch& operator=(PreparedDispatch&&) noexcept;
  ~PreparedDispatch();

  // Compiles the dispatch with the configuration, or with the compiler's own choice if there is
  // none. Failures: kCompileError with the compiler's words; kNotApplied if the configured IR does
  // not hold the requested configuration. The compiler may also crash or hang on an illegal
  // configuration: call it in a process of its own. `times`: up to executable-configurations, to
  // executable-targets (LLVM's dialect), and to hal (optimiser, code generator, linker).
  tl::expected<provider::Artifact, provider::Failure> compile(
      const std::optional<Attributes>& configuration, provider::CompileStages* times = nullptr);

  // Compiles another executable in the place of the dispatch's: the text of a module whose one
  // export has its layout and a constant number of workgroups. Failures and `times`: as compile().
  tl::expected<provider::Artifact, provider::Failure> compile_in_its_place(
      const std::string& executable, provider::CompileStages* times = nullptr);

  // The compiler's default configuration; empty if it configures no root operation.
  const Attributes& default_configuration() const;

 private:
  struct State;
  explicit PreparedDispatch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone::iree
