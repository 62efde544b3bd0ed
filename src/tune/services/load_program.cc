#include "tune/services/load_program.h"

#include <algorithm>
#include <utility>

#include "space/configuration.h"

namespace hone::tune {

Result<problem::Program> load_program(trial::CompileService& compiler,
                                      const provider::Provider& provider, const std::string& path,
                                      const std::string& bytes,
                                      const std::vector<std::string>& flags,
                                      const std::optional<problem::GivenSizes>& given) {
  HONE_ASSIGN(problem::Program program, compiler.load_program({path, bytes, flags, {}, given}));
  HONE_TRY(ask_for_spaces(compiler, provider, flags, program));
  return program;
}

Status ask_for_spaces(trial::CompileService& compiler, const provider::Provider& provider,
                      const std::vector<std::string>& flags, problem::Program& program,
                      const std::vector<const provider::Provider*>& replacing) {
  std::vector<problem::Dispatch*> tunable;
  for (problem::Dispatch& dispatch : program.dispatches)
    if (dispatch.not_tunable.empty()) tunable.push_back(&dispatch);
  if (provider.compiler_states_spaces()) {
    HONE_ASSIGN(std::vector<std::string> stated,
                compiler.stated_constraints({tunable.begin(), tunable.end()}, flags));
    for (std::size_t i = 0; i < tunable.size(); ++i)
      tunable[i]->stated_constraints = std::move(stated[i]);
  }
  for (problem::Dispatch* const dispatch : tunable) {
    std::string why_not = provider.why_no_space(*dispatch);
    const auto can_replace = [&](const provider::Provider* each) {
      return each->why_no_space(*dispatch).empty();
    };
    if (!why_not.empty() && std::ranges::none_of(replacing, can_replace))
      dispatch->not_tunable = std::move(why_not);
  }
  return {};
}

Result<provider::Payload> payload_from(const provider::Provider& provider,
                                       const problem::Dispatch& dispatch,
                                       const std::string& configuration) {
  HONE_ASSIGN(const space::Space space, provider.space_of(dispatch));
  HONE_ASSIGN(const space::Configuration parsed, space::parse_configuration(space, configuration));
  return provider.payload_of(dispatch, space, parsed);
}

}  // namespace hone::tune
