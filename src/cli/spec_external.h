// hone spec external: calls kernels of machine code in a program, by a transform spec.
#pragma once

#include "cli/command.h"

namespace hone::cli {

// Adds "external" to the command `spec`.
void add_spec_external_command(CLI::App& spec, Run& run);

}  // namespace hone::cli
