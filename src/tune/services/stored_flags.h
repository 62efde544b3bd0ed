// Compiler flags that a store names; the store may come from anybody. Some flags make the compiler
// run programs or write files of any name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "provider/program_provider.h"
#include "store/rows.h"

namespace hone::tune {

// Returns the flags of `build`. Input error if they are not a list of texts.
Result<std::vector<std::string>> flags_in(const store::Build& build);

// Returns the flags of `build` if they are safe to compile with. Input error that names the first
// flag which is neither harmless, according to the provider, nor in `given`, the user's own.
Result<std::vector<std::string>> flags_to_compile_with(const store::Build& build,
                                                       const std::vector<std::string>& given,
                                                       const provider::ProgramProvider& provider);

}  // namespace hone::tune
