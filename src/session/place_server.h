// The server of a tuner elsewhere: its jobs on this machine (remote_jobs.h).
#pragma once

namespace hone::session {

// Serves a tuner at the other end of stdin and stdout (worker/remote_server.h), with this machine's
// devices and the IREE runtime that is found here. Returns the exit code.
int serve_places();

}  // namespace hone::session
