// The tuner's side of the compile process tree.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "worker/fork_server.h"
#include "worker/worker_pool.h"

namespace hone::worker {

struct CompilePoolOptions {
  // Starts a process that calls serve_zygote(ChildProcess::kChildSocket, ...).
  std::vector<std::string> command;
  int jobs = 1;  // candidates and once-jobs that run at the same time
  // Of a first try. A job that passes its time, or is killed from outside, is run once more with
  // twice the time before that is what became of it.
  JobLimits once;
  JobLimits prepare;
  JobLimits run;
  double start_seconds = 60;        // for the zygote to say hello (it may load a compiler)
  std::filesystem::path temporary;  // where the session's folder is made; empty: the system's
  int stop_fd = -1;                 // once it is readable every waiting call returns kInterrupted
};

// A zygote or prepared server that dies is started and prepared again; a candidate that was running
// then is run once more, and has failed (kCompileCrash, kCompileKilled) when its server dies again.
class CompilePool final : public WorkerPool {
 public:
  // Starts the zygote and waits for its hello. An environment error with its words otherwise.
  static Result<std::unique_ptr<CompilePool>> start(CompilePoolOptions options);
  ~CompilePool() override;  // ends every process, removes the session's folder

  Result<Outcome> once(const Message& message) override;
  Result<std::vector<Outcome>> once_each(const std::vector<Message>& messages) override;
  Result<Outcome> prepare(const std::string& key, const Message& message) override;
  Status release(const std::string& key) override;
  Status submit(const std::string& key, JobId id, const Message& message) override;
  Result<std::optional<Finished>> next_finished(double seconds = -1) override;
  std::size_t outstanding() const override;
  Status cancel_all() override;

  pid_t zygote_pid() const;
  int restarts() const;  // of the zygote and of prepared servers

 private:
  class State;
  explicit CompilePool(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone::worker
