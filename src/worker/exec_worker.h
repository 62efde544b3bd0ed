// A worker whose work another program does.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hone::worker {

// Makes the calling process, which a tuner has started as a worker with its socket at descriptor
// `socket`, the program `command`: it finds the socket there, works in the session's folder
// (TMPDIR), and is ended with all it started when the tuner goes. To be called while the process
// has one thread; returns only with an error.
Error exec_worker(int socket, const std::vector<std::string>& command);

}  // namespace hone::worker
