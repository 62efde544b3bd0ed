// Janitors: processes that clean up when the worker that started them cannot; and a worker that
// runs another program, with its janitors.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "worker/session_folder.h"

namespace hone::worker {

// Starts two janitors for the calling worker; each replaces the other when it dies. The worker's
// tuner is at the other end of `socket`. A negative `socket` means that the caller is a tuner with
// temporary files of its own, and there is none to watch. When the tuner leaves, they give the
// worker half a second to leave too. Then they kill it with its process group, for its handler
// hangs or it was stopped. When the worker is gone, for whatever reason, they kill what the session
// started, remove its folder and end. They are no children of the worker and do not carry the
// session's mark, so that they outlive the worker. Requires a worker with one thread.
Status start_janitor(int socket, const SessionFolder& folder);

// Begins a worker: claims its folder, ignores SIGPIPE for output that no tuner reads any more, and
// starts its janitors. On failure it prints the reason and returns the exit code.
tl::expected<SessionFolder, int> begin_worker(int socket);

// Replaces the calling process, a worker with its socket at descriptor `socket`, by the program
// `command`. The program finds the socket there and works in the session's folder (TMPDIR). It is
// ended with all it started when the tuner goes. Requires a process with one thread; returns only
// with an error.
Error exec_worker(int socket, const std::vector<std::string>& command);

}  // namespace hone::worker
