// What `hone tune --compile-only` prints.
#pragma once

#include <filesystem>

#include "cli/toolchain.h"
#include "tune/dispatch/compile_only.h"

namespace hone::cli {

// Counts per dispatch and the candidates in the order of ranks_before(), on stdout: a table of the
// first ten, or one JSON document with all.
// The document is written to `file` in any case.
Status print_compiled(const ToolchainOptions& options, const tune::CompiledProgram& compiled,
                      bool json, const std::filesystem::path& file);

}  // namespace hone::cli
