// Long-lived compile workers, for compilers that start slowly and cannot be forked, such as Triton
// in a Python process.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "worker/fork_server.h"
#include "worker/worker_pool.h"
#include "worker/worker_process.h"

namespace hone::worker {

// Options of a pool. The command starts a process that answers each message with one message, as
// serve_runner() does.
struct PersistentPoolOptions : WorkerOptions {
  // Workers that run candidates. One more is kept for once(), prepare() and hurried candidates,
  // which are waited for: the others may all be busy for seconds, also with what was cancelled.
  int workers = 1;
  JobLimits limits;  // of one job
  // Names the work of a job. Jobs of one name ask for the same work, whose result their processes
  // share. The others wait until the first has finished, and fail as it did if it exceeds a limit
  // of time or memory. Without a function or a name, all jobs differ.
  std::function<std::string(const Message&)> same_work;
};

// A pool in which each worker runs one job at a time. A job that kills its worker (kCompileCrash),
// or exceeds its time (kCompileTimeout) or memory (kCompileMemory), costs that worker. The worker
// is replaced when there is work for it, and the other jobs go on. A job that takes too long, or
// whose worker is killed from outside (kCompileKilled), is retried once with twice the time. A
// worker serves one key at a time, and repeats the preparation when the key changes.
class PersistentPool final : public WorkerPool {
 public:
  // Starts all workers concurrently, without waiting. The first call that needs a worker waits for
  // one. It returns an environment error with the words of the first worker that fails to start.
  static Result<std::unique_ptr<PersistentPool>> start(PersistentPoolOptions options);
  ~PersistentPool() override;  // ends every worker, removes their folders

  Result<Outcome> once(const Message& message) override;
  Result<Outcome> prepare(const std::string& key, const Message& message) override;
  Status release(const std::string& key) override;
  void hurry(const std::string& key) override;
  Status submit(const std::string& key, JobId id, const Message& message) override;
  Result<std::optional<Finished>> next_finished(double seconds = -1) override;
  std::size_t outstanding() const override;
  Status cancel(const std::string& key) override;

  int restarts() const;  // of workers that were lost

 private:
  struct State;
  explicit PersistentPool(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone::worker
