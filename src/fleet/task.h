// A task of a fleet: a part of the tuning, in a process of its own on a node.
#pragma once

#include <string>

#include "base/result.h"
#include "fleet/folder.h"

namespace hone::fleet {

// Runs the task `name` of the folder: a shard's number, "compile-" with one, "flags" or "proof".
// - Its store lies in the node's temporary folder. It goes on from the last checkpoint, from the
//   published flags, and a shard from the code that was compiled for it.
// - A status is written at every beat, a checkpoint at intervals and when the task is stopped.
// - A finished store is published by a rename; the flags are published once. The proof merges the
//   shards that are there, and publishes its store, its output and its exit code.
// `stop_fd`: readable once the task is to end (a signal of the batch system); it then has seconds.
// Returns the exit code. Errors: input for a name that is no task; environment errors of the
// folder or of hone itself, which its status tells too.
Result<int> run_task(const Folder& folder, const std::string& name, std::string_view version,
                     int stop_fd);

}  // namespace hone::fleet
