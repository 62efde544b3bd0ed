// hone spec emit: what was found, in forms that are used without hone.
#pragma once

#include "cli/command.h"

namespace hone::cli {

// Adds "emit" to the command `spec`.
void add_spec_emit_command(CLI::App& spec, Run& run);

}  // namespace hone::cli
