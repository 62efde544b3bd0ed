// The seam to batch systems: how the tasks of a fleet folder are started and stopped.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "fleet/folder.h"

namespace hone::fleet {

// A job of one or several tasks. It begins once the job before it has ended, however that ended.
struct JobRequest {
  std::string name;                // SubmittedJob::name
  std::vector<std::string> tasks;  // names, alike but for their numbers; they run side by side
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  // Returns the text that submit() would hand to the batch system for the job.
  virtual std::string script(const Folder& folder, const JobRequest& request) const = 0;
  // Submits the jobs, each after the one before. Either all of them are accepted or none is left.
  // Environment errors: the batch system is missing, or refuses, in its own words.
  virtual Result<std::vector<SubmittedJob>> submit(const Folder& folder,
                                                   const std::vector<JobRequest>& requests) = 0;
  // Names of the tasks of `jobs` that wait or run. An environment error if the batch system does
  // not answer, which may pass.
  virtual Result<std::set<std::string>> alive(const std::vector<SubmittedJob>& jobs) = 0;
  // Ends the jobs, as far as they have not ended.
  virtual Status cancel(const std::vector<SubmittedJob>& jobs) = 0;
};

// Slurm, by sbatch, squeue and scancel. `arguments`: further ones of sbatch, as a shell would read
// them. `compile_partition`: nodes of kCompileJob, which get no device.
std::unique_ptr<Launcher> slurm(std::string arguments, std::string compile_partition = {});

// HyperQueue, by the Python API of its wheel. The server is that of $HQ_SERVER_DIR, or of
// ~/.hq-server.
std::unique_ptr<Launcher> hyperqueue();
// The script that calls that API, as part of the binary.
std::span<const EmbeddedFile> python_sources();

}  // namespace hone::fleet
