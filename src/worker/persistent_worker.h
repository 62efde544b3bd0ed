// A worker of a PersistentPool: its process and its current job.
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worker/persistent_pool.h"
#include "worker/worker_process.h"

namespace hone::worker {

struct PersistentJob {
  JobId id = 0;
  std::string key;  // of what must be prepared before; empty: nothing
  Message message;
  std::optional<Message> prepare;  // what `key` stands for
  std::string work = {};       // PersistentPoolOptions::same_work of it; empty: unlike any other
  bool is_second_try = false;  // of one that was killed or passed its time: it has twice that
};

class PersistentWorker {
 public:
  // Starts nothing yet. `options` must outlive the worker.
  explicit PersistentWorker(const PersistentPoolOptions& options) : options_(&options) {}

  // Starts the process if none lives. Returns an environment error with its words.
  Status start();

  bool is_busy() const { return job_.has_value(); }
  // Key of the preparation that the process holds, or is about to.
  const std::string& key() const { return key_; }

  // Hands a job to an idle worker, starting a process if there is none.
  Status begin(PersistentJob job);

  // Returns the job's result once it is there. After a crash or an exceeded limit the process is
  // gone.
  std::optional<Finished> look();

  // Returns the job that must be handed to a worker once more. look() found it killed or too slow
  // for the first time, and gave no result for it.
  std::optional<PersistentJob> take_again() { return std::exchange(again_, std::nullopt); }

  // Drops the job's result. The job runs to its end, which costs less than a new process.
  void forget() { forgotten_ = is_busy(); }
  bool is_forgotten() const { return forgotten_; }

  void add_poll_entries(std::vector<pollfd>& entries) const;
  int restarts() const { return restarts_; }

 private:
  std::optional<Finished> finish(Outcome outcome);
  std::optional<Finished> die(provider::FailureKind kind, std::string why);
  double seconds() const;  // since the job began

  const PersistentPoolOptions* options_;
  std::optional<WorkerProcess> session_;
  std::optional<PersistentJob> job_;
  std::optional<PersistentJob> again_;
  std::string key_;
  bool preparing_ = false;  // the next answer is that of the job's preparation
  bool forgotten_ = false;
  int restarts_ = -1;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace hone::worker
