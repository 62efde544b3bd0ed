// hone dispatches --profile: where a program's time goes.
#pragma once

#include "cli/command.h"
#include "cli/tune_options.h"

namespace hone::cli {

// Measures each distinct dispatch of the program and the whole of it, and prints the table, those
// that take most first, and how their sum compares with the whole.
CommandResult profile_dispatches(TuneOptions options);

}  // namespace hone::cli
