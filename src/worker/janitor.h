// A process that cleans up when the worker that started it cannot.
#pragma once

#include "worker/session_folder.h"

namespace hone::worker {

// Starts the janitor of the calling worker, whose tuner is at the other end of `socket`. When the
// tuner leaves it gives the worker half a second to do the same and kills it with its process group
// then (its handler hangs, or it was stopped); when the worker is gone, for whatever reason, it
// kills what the session started and removes its folder. It is no child of the worker and does not
// carry the session's mark, so that who ends the worker does not end it too. To be called while the
// worker has one thread.
Status start_janitor(int socket, const SessionFolder& folder);

}  // namespace hone::worker
