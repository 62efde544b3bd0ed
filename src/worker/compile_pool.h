// The tuner's side of the compile process tree.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worker/fork_server.h"
#include "worker/message.h"
#include "worker/worker_pool.h"
#include "worker/worker_process.h"

namespace hone::worker {

// Options of a CompilePool. The command starts a process that calls serve_zygote().
struct CompilePoolOptions : WorkerOptions {
  int jobs = 1;  // candidates and once-jobs that run at the same time
  // Limits of a first try. A job that exceeds its time, or is killed from outside, is retried once
  // with twice the time.
  JobLimits once;
  JobLimits prepare;
  JobLimits run;
};

// Pool of forked compile processes. A zygote or prepared server that dies is started and prepared
// again. A candidate that was running then is retried once. It has failed (kCompileCrash,
// kCompileKilled) if its server dies again.
class CompilePool final : public WorkerPool {
 public:
  // Starts the zygote and waits for its hello, or returns an environment error with its words. The
  // pool's destructor ends every process and removes the session's folder.
  static Result<std::unique_ptr<CompilePool>> start(CompilePoolOptions options);

  Result<Outcome> once(const Message& message) override;
  void limit_once(std::optional<double> seconds) override { most_seconds_ = seconds; }
  Result<std::vector<Outcome>> once_each(const std::vector<Message>& messages) override;
  std::optional<Begun> begin_once(const Message& message) override;
  Result<Outcome> end_once(Begun begun) override { return wait_for(begun); }
  Result<Outcome> prepare(const std::string& key, const Message& message) override;
  Result<std::vector<Outcome>> prepare_each(
      const std::vector<std::pair<std::string, Message>>& servers) override;
  Status release(const std::string& key) override;
  Status submit(const std::string& key, JobId id, const Message& message) override;
  Result<std::optional<Finished>> next_finished(double seconds = -1) override;
  std::size_t outstanding() const override;
  std::vector<JobTime> take_job_times() override { return std::exchange(job_times_, {}); }
  Status cancel(const std::string& key) override;

  pid_t zygote_pid() { return zygote_ ? zygote_->process().pid() : pid_t{-1}; }
  int restarts() const { return restarts_; }  // of the zygote and of prepared servers

 private:
  // The pool's own number of a job: the caller's may be reused after cancel().
  using Sequence = std::uint64_t;

  explicit CompilePool(CompilePoolOptions options) : options_(std::move(options)) {}

  enum class Kind { kOnce, kPrepare, kRun };
  struct Job {
    Kind kind;
    JobId id;         // the caller's, of a run
    std::string key;  // of its server, unless once
    Message message;
    bool is_internal = false;  // a server prepared again: nobody waits for the answer
    bool is_held = false;      // a suspect that waits for another one to finish
    int losses = 0;            // how often a process died while it ran
    std::optional<double> most_seconds = {};  // of a once-job, where it is limited by itself
    std::optional<std::chrono::steady_clock::time_point> started = {};
  };
  struct Server {
    Message message;
    int idle_deaths = 0;                      // in a row
    std::optional<provider::Failure> broken;  // why it could not be prepared again
  };

  Status start_zygote();
  Sequence send_new(Kind kind, const std::string& key, const Message& message);
  Result<Outcome> wait_for(Sequence sequence);
  // Sends `count` jobs by `send` and waits for each; outcomes are in order.
  Result<std::vector<Outcome>> side_by_side(std::size_t count,
                                            const std::function<Sequence(std::size_t)>& send);
  Status pump(double seconds);
  // Takes what the zygote said; fails for what means nothing.
  Status take(Message message);
  void take_loss(const Message& message);
  Status restart_zygote(const std::string& why);
  void prepare_again(const std::string& key);
  void send_job(Sequence sequence, Job& job);
  void send(const Message& message);
  void send_suspects();
  // Counts a lost process of the job; returns true if the job is given up, with `failure`.
  bool lose(Sequence sequence, Job& job, const provider::Failure& failure);
  // `ended`: as the report says it; 0: now.
  void finish(Sequence sequence, Outcome outcome, double seconds, double ended = 0);
  // Makes all further jobs of `key` fail with `failure`.
  void break_server(const std::string& key, const provider::Failure& failure);
  double limit_of(const Job& job) const;

  CompilePoolOptions options_;
  std::optional<WorkerProcess> zygote_;
  std::map<Sequence, Job> jobs_;
  std::map<std::string, Server> servers_;
  std::map<Sequence, Outcome> answers_;  // of once and prepare
  std::deque<Finished> finished_;
  std::vector<JobTime> job_times_;
  std::optional<double> most_seconds_;  // of the once-jobs that come
  Sequence last_ = 0;
  int restarts_ = 0;
  int zygote_idle_deaths_ = 0;  // in a row
};

}  // namespace hone::worker
