// A process that cleans up when the worker that started it cannot.
#pragma once

#include <sys/types.h>

#include "worker/session_folder.h"

namespace hone::worker {

// Forks the janitor of the calling worker, whose tuner is at the other end of `socket`. When the
// tuner leaves it gives the worker half a second to do the same and kills it with its process group
// then (its handler hangs, or it was stopped); when the worker is gone, for whatever reason, it
// kills what the session started and removes its folder. Returns its pid. To be called while the
// worker has one thread.
Result<pid_t> start_janitor(int socket, const SessionFolder& folder);

}  // namespace hone::worker
