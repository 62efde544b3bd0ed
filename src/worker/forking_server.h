// A process of one thread that is asked for jobs, forks a child for each and does nothing but poll.
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
  using Handler = std::function<Outcome(const Message&)>;
  // Each job runs `handler` within these of the settings' limits, in a folder of `folder` that
  // begins with `name`.
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

  // Serves until who asks is gone; false when it said what cannot be understood.
  bool serve();

 protected:
  // Does what is asked, "run" or "cancel"; false when it cannot be understood.
  virtual bool take_order(Message order);
  // Looks at what else the process does.
  virtual void look() {}
  // Adds what else to wait for; true when it has to be looked at by the clock too.
  virtual bool add_poll_entries(std::vector<pollfd>&) const { return false; }
  // The children, without what they have started.
  virtual std::vector<pid_t> pids() const;
  // In a forked child: closes what belongs to its parent.
  virtual void let_go();

  // Starts a job. `most_seconds`: of each try, in place of the limits'; then one that takes longer
  // is not tried again.
  void start(std::uint64_t id, Message message, std::optional<double> most_seconds = {},
             bool is_second_try = false);
  // Says what became of a job; what is too large to send becomes a failure.
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
