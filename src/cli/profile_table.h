// hone dispatches --profile: where a program's time goes.
#pragma once

#include "cli/command.h"
#include "session/session_options.h"

namespace hone::cli {

// Times the whole program and what each distinct dispatch takes in it, where the runtime tells
// that, and prints the table, those that take most first, and how their sum compares with the
// whole. Without `quick` each is also verified and measured alone.
CommandResult profile_dispatches(SessionOptions options, bool quick);

}  // namespace hone::cli
