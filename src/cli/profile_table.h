// hone dispatches --profile: the time of a program by dispatch.
#pragma once

#include "cli/command.h"
#include "session/session_options.h"

namespace hone::cli {

// Times the whole program, and each distinct dispatch in it if the runtime tells that. Prints the
// table, the longest times first, and their sum against the whole. Without `quick` each dispatch is
// also verified and measured alone. With `graph`, prints the program's graph instead of the table,
// each dispatch with its share of the time (dispatch_graph.h).
CommandResult profile_dispatches(SessionOptions options, bool quick, bool graph);

}  // namespace hone::cli
