// What `hone tune --compile-only` prints.
#pragma once

#include <filesystem>

#include "cli/command.h"
#include "cli/toolchain.h"
#include "tune/dispatch/compile_only.h"

namespace hone::cli {

// Counts per dispatch and the candidates in the order of ranks_before(), on stdout: a table of the
// first ten, or one JSON document with all.
// The document is written to `file` in any case. A default that does not compile comes first, what
// the run came to last; the result is its exit code.
CommandResult print_compiled(const ToolchainOptions& options, const tune::CompiledProgram& compiled,
                             bool json, const std::filesystem::path& file);

}  // namespace hone::cli
