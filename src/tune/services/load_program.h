// A program on its way from the file to dispatches that can be tuned.
#pragma once

#include <string>
#include <vector>

#include "provider/provider.h"
#include "trial/compile_service.h"

namespace hone::tune {

// The program in the file `path` (its content: `bytes`), split into dispatches; where the
// provider's compiler states the spaces of dispatches itself, each with what it states. Errors as
// CompileService::load_program.
Result<problem::Program> load_program(trial::CompileService& compiler,
                                      const provider::Provider& provider, const std::string& path,
                                      const std::string& bytes,
                                      const std::vector<std::string>& flags,
                                      const std::optional<problem::GivenSizes>& given = {});

// The configuration "dist_m=64,..." of the dispatch's space, as its compiler is told it. Input
// errors: parse_configuration's.
Result<provider::Payload> payload_from(const provider::Provider& provider,
                                       const problem::Dispatch& dispatch,
                                       const std::string& configuration);

// The same for a program that was split with `flags`. A dispatch that `provider` has no space for
// can still be tuned where one of `replacing` has one: its default is compared with their kernels.
Status ask_for_spaces(trial::CompileService& compiler, const provider::Provider& provider,
                      const std::vector<std::string>& flags, problem::Program& program,
                      const std::vector<const provider::Provider*>& replacing = {});

}  // namespace hone::tune
