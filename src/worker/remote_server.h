// hone on the machine where kernels run, as a tuner elsewhere talks to it over stdin and stdout.
#pragma once

#include <filesystem>
#include <functional>

#include "worker/runner_process.h"

namespace hone::worker {

// Answers a job. Files that the tuner has sent lie in `files`, by their names. `stop_fd` becomes
// readable when the tuner is gone.
using RemoteJobs =
    std::function<Result<Message>(Message job, const std::filesystem::path& files, int stop_fd)>;

// Serves until stdin ends: jobs for a runner, which `runner` starts, and all others by `jobs`.
// Returns the exit code. Requires a process with one thread. Temporary files are removed and the
// runner is ended with all it started, even if this process is killed.
int serve_remote(RunnerOptions runner, const RemoteJobs& jobs);

}  // namespace hone::worker
