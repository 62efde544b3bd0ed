// The process that the tuner starts for one set of compiler flags: parent of the prepared servers
// and of once-jobs, and the one who cleans up when the tuner is gone.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "worker/envelope.h"
#include "worker/job_process.h"

namespace hone::worker {

class Zygote {
 public:
  // `folder` is the session's own; everything made below goes in it.
  Zygote(UniqueFd tuner, const CompileHandlers& handlers, std::filesystem::path folder);

  // Serves until the tuner is gone; false when it said what cannot be understood. Then nothing
  // below runs and `folder` is gone.
  bool serve();

 private:
  // A candidate handed to a prepared server, and since when.
  using InFlight = std::map<std::uint64_t, std::chrono::steady_clock::time_point>;
  struct OnceJob {
    JobProcess process;
    Message message;
    bool is_second_try;
  };
  struct Server {
    JobProcess process;
    std::uint64_t prepare_id;
    Message message;  // what prepares it; until it has answered
    bool is_second_try;
    bool prepared = false;
    InFlight in_flight;
  };
  struct Waiting {
    std::uint64_t id;
    std::string key;
    Message message;
  };

  void wait();
  bool take_orders();
  bool take_order(Message order);
  void start_once(std::uint64_t id, Message message, bool is_second_try = false);
  void start_server(std::uint64_t id, const std::string& key, Message message);
  Result<JobProcess> fork_server(const Message& message, bool is_second_try);
  // True when a server that failed to prepare, and has been ended, is being prepared once more.
  bool prepare_once_more(Server& server, const provider::Failure& failure);
  void end_server(const std::string& key);
  void cancel_candidates();
  void look_at_once_jobs();
  void look_at_servers();
  // False when the server is lost and its place to be freed.
  bool look_at_server(const std::string& key, Server& server);
  bool take_report(Server& server, Message message);
  void report_lost(const std::string& key, const Server& server, const provider::Failure& failure);
  void start_waiting();
  std::size_t running() const;
  std::vector<pid_t> pids() const;
  void end_everything();
  void let_go();  // in a forked child: closes what belongs to the zygote

  Connection tuner_;
  const CompileHandlers& handlers_;
  std::filesystem::path folder_;
  TreeSettings settings_;
  std::map<std::uint64_t, OnceJob> once_jobs_;
  std::map<std::string, Server> servers_;
  std::deque<Waiting> waiting_;
  std::uint64_t servers_started_ = 0;
  bool orphans_left_ = false;
};

}  // namespace hone::worker
