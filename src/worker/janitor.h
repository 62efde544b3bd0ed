// Processes that clean up when the worker that started them cannot.
#pragma once

#include "worker/session_folder.h"

namespace hone::worker {

// Starts the janitors of the calling worker, whose tuner is at the other end of `socket` (negative:
// there is none to watch, since the caller is a tuner and its own temporary files are meant): two,
// each of which replaces the other when it dies. When the tuner leaves they give the worker half a
// second to do the same, then kill it with its process group (its handler hangs, or it was
// stopped). When the worker is gone, for whatever reason, they kill what the session started,
// remove its folder and end. They are no children of the worker and do not carry the session's
// mark, so that who ends the worker does not end them too. To be called while the worker has one
// thread.
Status start_janitor(int socket, const SessionFolder& folder);

// The first steps of a worker: it claims its folder, has janitors, and is not ended by words that
// no tuner reads any more. Where it cannot: the exit code, after the reason was said.
tl::expected<SessionFolder, int> begin_worker(int socket);

}  // namespace hone::worker
