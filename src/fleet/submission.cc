#include "fleet/submission.h"

#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/ranges.h"
#include "base/stopwatch.h"

namespace hone::fleet {
namespace {

// Seconds between two looks at the folder, and at the batch system.
constexpr double kLookSeconds = 1, kAskSeconds = 5;
// Beats without news after which a task counts as silent.
constexpr double kSilentBeats = 6;
// Seconds that a shared file system may take to show what a node wrote.
constexpr double kVisibleSeconds = 15;

// Tells running tasks from silent ones by this process's clock.
class Pulse {
 public:
  Result<std::set<std::string>> silent(const Folder& folder) {
    HONE_ASSIGN(const Beats beats, beats_of(folder));
    std::set<std::string> names;
    for (const auto& [name, beat] : beats) {
      auto& [last, seen] = seen_.try_emplace(name, beat, clock_.seconds()).first->second;
      if (last != beat) seen = clock_.seconds();
      last = beat;
      if (clock_.seconds() - seen > kSilentBeats * folder.plan().beat_seconds) names.insert(name);
    }
    return names;
  }

 private:
  Stopwatch clock_;
  std::map<std::string, std::pair<std::uint64_t, double>> seen_;
};

void remove_all_of(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::remove_all(path, code);
}

Result<std::vector<SubmittedJob>> submit(const Folder& folder, Launcher& launcher) {
  const std::vector<JobRequest> missing = missing_jobs(folder);
  std::error_code code;
  for (const auto& file : {folder.cancel_file(), folder.proof_result(), folder.proof_output(),
                           folder.status_file(std::string(kProofTask))})
    std::filesystem::remove(file, code);
  Result<std::vector<SubmittedJob>> jobs = launcher.submit(folder, missing);
  if (!jobs) {
    if (folder.is_new()) remove_all_of(folder.path());
    return jobs;
  }
  HONE_TRY(folder.write(*jobs));
  return jobs;
}

// Cancels all that runs for the folder.
Error cancelled(const Folder& folder, Launcher& launcher, const std::vector<SubmittedJob>& jobs) {
  std::vector<std::string> ids;
  for (const SubmittedJob& job : jobs)
    if (std::ranges::count(ids, job.id) == 0) ids.push_back(job.id);
  Status ended = write_file_atomically(folder.cancel_file(), "");
  if (ended) ended = launcher.cancel(jobs);
  return {
      ErrorKind::kInterrupted,
      fmt::format("stopped; {} jobs {}; finished shards are in '{}', and the same command submits "
                  "what is missing",
                  ended ? "cancelled the" : "could not cancel the", fmt::join(ids, ", "),
                  folder.path().string())};
}

// Shards that no task works on any more, once the batch system has answered.
tl::unexpected<Error> lost(const Folder& folder) {
  const std::vector<std::string> missing = folder.missing();
  return failure(
      "the jobs have ended without a proof{}; logs are in '{}', and the same command submits what "
      "is "
      "missing: {}",
      missing.empty() ? "" : fmt::format(" (missing shards: {})", fmt::join(missing, ", ")),
      (folder.path() / "log").string(), folder.plan().command);
}

Result<FleetResult> follow(const Folder& folder, Launcher& launcher,
                           const std::vector<SubmittedJob>& jobs, const FollowOptions& options) {
  Pulse pulse;
  const Stopwatch clock;
  double asked = 0, gone_since = -1;
  while (true) {
    HONE_ASSIGN(std::optional<FleetResult> result, folder.result());
    if (result) return std::move(*result);
    HONE_ASSIGN(const std::set<std::string> silent, pulse.silent(folder));
    HONE_ASSIGN(const FleetProgress progress, progress_of(folder, silent));
    if (options.tell) options.tell(in_one_line(progress));
    if (clock.seconds() - asked >= kAskSeconds) {
      asked = clock.seconds();
      // A controller that does not answer may be restarted: the tasks go on meanwhile.
      const Result<std::set<std::string>> alive = launcher.alive(jobs);
      const bool gone = alive && alive->empty();
      gone_since = !gone ? -1 : gone_since < 0 ? asked : gone_since;
      if (gone && asked - gone_since >= kVisibleSeconds) return lost(folder);
    }
    pollfd stop{options.stop_fd, POLLIN, 0};
    ::poll(&stop, 1, static_cast<int>(1000 * kLookSeconds));
    if (is_readable(options.stop_fd)) return tl::unexpected(cancelled(folder, launcher, jobs));
  }
}

}  // namespace

std::vector<JobRequest> missing_jobs(const Folder& folder) {
  const std::vector<std::string> shards = folder.missing();
  if (shards.empty() && is_there(folder.proof_result())) return {};
  std::vector<JobRequest> jobs;
  if (folder.plan().flags && !shards.empty() && !is_there(folder.flags()))
    jobs.push_back({std::string(kFlagsTask), {std::string(kFlagsTask)}});
  if (folder.plan().compiles && !shards.empty()) {
    std::vector<std::string> compiles = mapped(shards, compile_task_of);
    std::erase_if(compiles,
                  [&](const std::string& task) { return is_there(folder.published(task)); });
    if (!compiles.empty()) jobs.push_back({std::string(kCompileJob), std::move(compiles)});
  }
  if (!shards.empty()) jobs.push_back({std::string(kShardsJob), shards});
  jobs.push_back({std::string(kProofTask), {std::string(kProofTask)}});
  return jobs;
}

Result<FleetResult> submit_and_follow(const Folder& folder, Launcher& launcher,
                                      const FollowOptions& options) {
  HONE_ASSIGN(std::vector<SubmittedJob> jobs, folder.jobs());
  if (missing_jobs(folder).empty()) {
    HONE_ASSIGN(const std::optional<FleetResult> result, folder.result());
    return *result;
  }
  bool goes_on = false;
  if (!jobs.empty() && !folder.is_cancelled()) {
    HONE_ASSIGN(const std::set<std::string> alive, launcher.alive(jobs));
    goes_on = !alive.empty();
  }
  if (!goes_on) {
    HONE_ASSIGN(jobs, submit(folder, launcher));
  }
  return follow(folder, launcher, jobs, options);
}

}  // namespace hone::fleet
