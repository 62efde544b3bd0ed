// A worker that runs another program.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hone::worker {

// Replaces the calling process, a worker with its socket at descriptor `socket`, by the program
// `command`. The program finds the socket there and works in the session's folder (TMPDIR). It is
// ended with all it started when the tuner goes. Requires a process with one thread; returns only
// with an error.
Error exec_worker(int socket, const std::vector<std::string>& command);

}  // namespace hone::worker
