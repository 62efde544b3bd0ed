// Compiler flags that a store names, which may come from anybody. Some flags make the compiler run
// programs or write files of whatever name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "provider/program_provider.h"
#include "store/rows.h"

namespace hone::tune {

// The flags of `build`. An input error where they are no list of texts.
Result<std::vector<std::string>> flags_in(const store::Build& build);

// Returns those flags to compile with. Input error that names the first one which is neither
// harmless, as the provider has it, nor among `given`, the user's own.
Result<std::vector<std::string>> flags_to_compile_with(const store::Build& build,
                                                       const std::vector<std::string>& given,
                                                       const provider::ProgramProvider& provider);

}  // namespace hone::tune
