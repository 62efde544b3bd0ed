// Loads a program and splits it into dispatches that can be tuned; checks the compiler flags that a
// store names.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "provider/program_provider.h"
#include "provider/provider.h"
#include "store/rows.h"
#include "trial/compile_service.h"
#include "tune/services/context.h"

namespace hone::tune {

// Loads the program in the file `path` (content: `bytes`) and splits it into dispatches. Where the
// provider's compiler states the spaces of dispatches, each dispatch has its statement. Errors as
// CompileService::load_program.
Result<problem::Program> load_program(trial::CompileService& compiler,
                                      const provider::Provider& provider, const std::string& path,
                                      const std::string& bytes,
                                      const std::vector<std::string>& flags,
                                      const std::optional<problem::GivenSizes>& given = {});

// Programs that are loaded to tune one under the baseline's flags and `more`: itself, and its
// compile for another CPU. Its dispatches have the same names there and share no code generation
// with the candidates.
struct ProgramsToLoad {
  trial::ProgramToCompile tuned, reference;
};
ProgramsToLoad programs_to_load(const Context& context, const std::string& bytes,
                                const std::vector<std::string>& more,
                                const problem::GivenSizes& given);

// Encodes the configuration "dist_m=64,..." of the dispatch's space for its compiler. Input errors:
// parse_configuration's.
Result<provider::Payload> payload_from(const provider::Provider& provider,
                                       const problem::Dispatch& dispatch,
                                       const std::string& configuration);

// Adds the compiler's statements of spaces to a program that was split with `flags`. A dispatch
// without a space of `provider` is still tunable if one of `replacing` has one. Its default is then
// compared with their kernels.
Status ask_for_spaces(trial::CompileService& compiler, const provider::Provider& provider,
                      const std::vector<std::string>& flags, problem::Program& program,
                      const std::vector<const provider::Provider*>& replacing = {});

// The store may come from anybody, and some flags make the compiler run programs or write files of
// any name.
//
// Returns the flags of `build`. Input error if they are not a list of texts.
Result<std::vector<std::string>> flags_in(const store::BuildRow& build);

// Returns the flags of `build` if they are safe to compile with. Input error that names the first
// flag which is neither harmless, according to the provider, nor in `given`, the user's own.
Result<std::vector<std::string>> flags_to_compile_with(const store::BuildRow& build,
                                                       const std::vector<std::string>& given,
                                                       const provider::ProgramProvider& provider);

}  // namespace hone::tune
