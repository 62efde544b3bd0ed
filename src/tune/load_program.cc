#include "tune/load_program.h"

namespace hone::tune {

Result<problem::Program> load_program(CompileService& compiler, const provider::Provider& provider,
                                      const std::string& path, const std::string& bytes,
                                      const std::vector<std::string>& flags) {
  HONE_ASSIGN(problem::Program program, compiler.load_program(path, bytes, flags));
  for (problem::Dispatch& dispatch : program.dispatches) {
    if (!dispatch.not_tunable.empty()) continue;
    if (provider.compiler_states_spaces()) {
      HONE_ASSIGN(dispatch.stated_constraints,
                  compiler.stated_constraints(dispatch.name, dispatch.source, flags));
    }
    dispatch.not_tunable = provider.why_no_space(dispatch);
  }
  return program;
}

}  // namespace hone::tune
