// Long-lived compile workers: for compilers that are slow to start and cannot be forked, as Triton
// in a Python process.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "worker/fork_server.h"
#include "worker/worker_pool.h"
#include "worker/worker_process.h"

namespace hone::worker {

// Their command starts a process that answers each message with one message, as serve_runner()
// does.
struct PersistentPoolOptions : WorkerOptions {
  int workers = 1;
  JobLimits limits;  // of one job
  // Jobs of one name ask for the same work, whose result their processes share: until the first has
  // finished the others are not begun, for they would only wait for it; where it takes too long or
  // too much memory they fail as it did. Without a function, or a name, all differ.
  std::function<std::string(const Message&)> same_work;
};

// One job at a time per worker. A job that kills its worker (kCompileCrash), takes too long
// (kCompileTimeout) or too much memory (kCompileMemory) costs that worker, which is replaced when
// there is work for it; the other jobs go on. One that takes too long, or whose worker is killed
// from outside (kCompileKilled), is tried once more, with twice the time. A worker serves one key
// at a time and is given what was prepared again when it changes.
class PersistentPool final : public WorkerPool {
 public:
  // Begins to start all workers, beside each other, and does not wait: the first call that needs
  // one does, and gives an environment error with the words of the first that does not come up.
  static Result<std::unique_ptr<PersistentPool>> start(PersistentPoolOptions options);
  ~PersistentPool() override;  // ends every worker, removes their folders

  Result<Outcome> once(const Message& message) override;
  Result<Outcome> prepare(const std::string& key, const Message& message) override;
  Status release(const std::string& key) override;
  Status submit(const std::string& key, JobId id, const Message& message) override;
  Result<std::optional<Finished>> next_finished(double seconds = -1) override;
  std::size_t outstanding() const override;
  Status cancel_all() override;

  int restarts() const;  // of workers that were lost

 private:
  struct State;
  explicit PersistentPool(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone::worker
