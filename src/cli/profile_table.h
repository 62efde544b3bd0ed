// hone dispatches --profile: the time of a program by dispatch.
#pragma once

#include "cli/command.h"
#include "session/session_options.h"

namespace hone::cli {

// Times the whole program, and each distinct dispatch in it if the runtime tells that. Prints the
// table, the longest times first, and their sum against the whole. Without `quick` each dispatch is
// also verified and measured alone.
CommandResult profile_dispatches(SessionOptions options, bool quick);

}  // namespace hone::cli
