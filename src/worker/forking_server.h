// A single-threaded process that takes jobs, forks a child for each and otherwise only polls.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "worker/envelope.h"
#include "worker/job_process.h"

namespace hone::worker {

class ForkingServer {
 public:
  using Handler = std::function<Outcome(Message)>;
  // Runs `handler` for each job, within `limits` of the settings. The job's folder lies in `folder`
  // and its name begins with `name`.
  ForkingServer(UniqueFd asker, const Handler& handler, JobLimits TreeSettings::*limits,
                std::filesystem::path folder, std::string_view name, TreeSettings settings = {})
      : asker_(std::move(asker)),
        folder_(std::move(folder)),
        settings_(settings),
        handler_(handler),
        limits_(limits),
        name_(name) {}
  virtual ~ForkingServer() { end_jobs(); }
  ForkingServer(const ForkingServer&) = delete;
  ForkingServer& operator=(const ForkingServer&) = delete;

  // Serves until the asker is gone; returns false if its message was malformed.
  bool serve();

 protected:
  // Handles the order "run" or "cancel"; returns false if it is malformed.
  virtual bool take_order(Message order);
  // Polls what a derived class adds.
  virtual void look() {}
  // Adds further descriptors to wait for; returns true if they must also be checked periodically.
  virtual bool add_poll_entries(std::vector<pollfd>&) const { return false; }
  // Direct children, without the processes that they have started.
  virtual std::vector<pid_t> pids() const;
  // Closes the parent's descriptors in a forked child.
  virtual void let_go();

  // Starts a job. `most_seconds` replaces the limit of each try; a job that exceeds it is not
  // retried.
  void start(std::uint64_t id, Message message, std::optional<double> most_seconds = {},
             bool is_second_try = false);
  // Reports the outcome of a job. An outcome that is too large to send becomes a failure.
  void report(std::uint64_t id, double seconds, Outcome outcome);
  void end_jobs();
  std::size_t running_jobs() const { return jobs_.size(); }

  Connection asker_;
  const std::filesystem::path folder_;
  TreeSettings settings_;

 private:
  struct Job {
    JobProcess process;
    Message message;
    std::optional<double> most_seconds;
    bool is_second_try;
  };
  void wait();
  bool take_orders();
  void look_at_jobs();

  const Handler& handler_;
  JobLimits TreeSettings::*limits_;
  std::string_view name_;
  std::map<std::uint64_t, Job> jobs_;
  bool orphans_left_ = false;
};

}  // namespace hone::worker
