// The state behind CompilePool: what was handed in, what runs, what died.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "worker/compile_pool.h"
#include "worker/envelope.h"
#include "worker/worker_process.h"

namespace hone::worker {

class CompilePool::State {
 public:
  // A number of the pool's own for each job: the caller's may come again after cancel_all().
  using Sequence = std::uint64_t;

  explicit State(CompilePoolOptions options) : options_(std::move(options)) {}

  Status start_zygote();
  Result<Outcome> run_once(const Message& message);
  Result<std::vector<Outcome>> run_once_each(const std::vector<Message>& messages);
  Result<Outcome> run_prepare(const std::string& key, const Message& message);
  Status release(const std::string& key);
  Status submit(const std::string& key, JobId id, const Message& message);
  Result<std::optional<Finished>> next_finished(double seconds);
  Status cancel_all();

  std::size_t outstanding() const;
  pid_t zygote_pid() { return zygote_ ? zygote_->process().pid() : pid_t{-1}; }
  int restarts() const { return restarts_; }

 private:
  enum class Kind { kOnce, kPrepare, kRun };
  struct Job {
    Kind kind;
    JobId id;         // the caller's, of a run
    std::string key;  // of its server, unless once
    Message message;
    bool is_internal = false;  // a server prepared again: nobody waits for the answer
    bool is_held = false;      // a suspect that waits for another one to finish
    int losses = 0;            // how often a process died while it ran
    std::optional<std::chrono::steady_clock::time_point> started = {};
  };
  struct Server {
    Message message;
    int idle_deaths = 0;                      // in a row
    std::optional<provider::Failure> broken;  // why it could not be prepared again
  };

  Result<Outcome> wait_for(Sequence sequence);
  Status pump(double seconds);
  Status take_messages();
  Status take_message(Message message);
  void take_report(Message message);
  void take_loss(const Message& message);
  Status restart_zygote(const std::string& why);
  void prepare_again(const std::string& key);
  void send_job(Sequence sequence, Job& job);
  void send(const Message& message);
  void send_suspects();
  // Counts a loss; true when the job is given up, with `failure`.
  bool lose(Sequence sequence, Job& job, const provider::Failure& failure);
  void finish(Sequence sequence, Outcome outcome, double seconds);
  // From now on jobs of `key` fail with `failure`.
  void break_server(const std::string& key, const provider::Failure& failure);
  bool zygote_hangs() const;
  double limit_of(Kind kind) const;

  CompilePoolOptions options_;
  std::optional<WorkerProcess> zygote_;
  std::map<Sequence, Job> jobs_;
  std::map<std::string, Server> servers_;
  std::map<Sequence, Outcome> answers_;  // of once and prepare
  std::deque<Finished> finished_;
  Sequence last_ = 0;
  int restarts_ = 0;
  int zygote_idle_deaths_ = 0;  // in a row
};

}  // namespace hone::worker
