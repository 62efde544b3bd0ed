#include "tune/services/load_program.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/json.h"
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

ProgramsToLoad programs_to_load(const Context& context, const std::string& bytes,
                                const std::vector<std::string>& more,
                                const problem::GivenSizes& given) {
  const std::string& path = context.options.input;
  const std::vector<std::string> extra = joined(context.baseline.extra_flags.flags, more);
  const std::vector<std::string> flags = joined(context.options.flags, extra);
  // Flags of the first phase are the user's own, which all have. On a CPU few sets are split.
  const bool shares = !context.options.traits().compiling_disturbs;
  return {{path, bytes, flags, flags, given, shares},
          {path, bytes, joined(context.options.reference_flags, extra), {}, given, shares}};
}

Result<provider::Payload> payload_from(const provider::Provider& provider,
                                       const problem::Dispatch& dispatch,
                                       const std::string& configuration) {
  HONE_ASSIGN(const space::Space space, provider.space_of(dispatch));
  HONE_ASSIGN(const space::Configuration parsed, space::parse_configuration(space, configuration));
  return provider.payload_of(dispatch, space, parsed);
}

Result<std::vector<std::string>> flags_in(const store::BuildRow& build) {
  auto flags = decode_json<std::vector<std::string>>(parse_json(build.flags));
  if (!flags)
    return input_error("the store's flags of build {} {}", build.id, flags.error().message);
  return std::move(*flags);
}

Result<std::vector<std::string>> flags_to_compile_with(const store::BuildRow& build,
                                                       const std::vector<std::string>& given,
                                                       const provider::ProgramProvider& provider) {
  HONE_ASSIGN(std::vector<std::string> flags, flags_in(build));
  for (const std::string& flag : flags) {
    const std::string_view name = std::string_view(flag).substr(0, flag.find('='));
    if (provider.is_harmless_flag(name)) continue;
    if (std::ranges::find(given, flag) != given.end()) continue;
    return input_error(
        "the store compiled with '{}', and a flag can make the compiler run or write what it "
        "names: "
        "give it again with --flag, or say --trust",
        flag);
  }
  return flags;
}

}  // namespace hone::tune
