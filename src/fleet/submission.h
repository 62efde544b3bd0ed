// Submits what is missing of a fleet, and follows its tasks to the end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/launcher.h"
#include "fleet/progress.h"

namespace hone::fleet {

// Jobs that are missing: the flag search, compiles for shards, the shards without a finished store,
// the proof. Empty: the proof is there, and all shards.
std::vector<JobRequest> missing_jobs(const Folder& folder);

struct FollowOptions {
  int stop_fd = -1;                                   // readable after Ctrl-C
  std::function<void(const std::string&)> tell = {};  // the state in one line
};

// Submits the missing jobs, unless those of an earlier submission go on, and waits for the proof.
// Errors: an environment error if the batch system refuses; nothing is left then of what create()
// made. kInterrupted after Ctrl-C: the jobs are cancelled. kFailure if the jobs ended without a
// proof.
Result<FleetResult> submit_and_follow(const Folder& folder, Launcher& launcher,
                                      const FollowOptions& options);

}  // namespace hone::fleet
