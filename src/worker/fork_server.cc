#include "worker/fork_server.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/process_tree.h"
#include "base/text.h"
#include "worker/janitor.h"
#include "worker/job_process.h"
#include "worker/session_folder.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;
using Clock = std::chrono::steady_clock;

// Grace after a candidate's time limit. If the prepared server has not reported it by then, the
// server itself hangs.
constexpr double kServerGraceSeconds = 5;

// A process with one thread that forks a child for each of its jobs and otherwise only polls. The
// zygote, which the tuner starts, also forks the prepared servers and hands them their candidates.
// A prepared server is another ForkServer, without servers of its own: its jobs are candidates.
class ForkServer {
 public:
  // The jobs of the process itself, which set the two apart.
  struct Role {
    std::string_view order;   // kind of the message that asks for a job
    std::string_view folder;  // beginning of the name of a job's folder
    JobLimits TreeSettings::*limits;
    std::function<Outcome(Message)> CompileHandlers::*handler;
    bool has_servers;  // and their candidates wait here
  };
  static constexpr Role kZygote{"once", "once", &TreeSettings::once, &CompileHandlers::once, true};
  static constexpr Role kPrepared{"run", "job", &TreeSettings::run, &CompileHandlers::run, false};

  // All files go in `folder`.
  ForkServer(const Role& role, UniqueFd asker, const CompileHandlers& handlers,
             std::filesystem::path folder, TreeSettings settings = {})
      : role_(role),
        asker_(std::move(asker)),
        handlers_(handlers),
        folder_(std::move(folder)),
        settings_(settings) {}
  ~ForkServer() { end_jobs(); }
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  void say_hello() { asker_.send({"hello", {{"pid", ::getpid()}}, {}}); }
  // Serves until the asker is gone; returns false if its message was malformed.
  bool serve();
  // Ends all processes below and removes the folder.
  void end_everything();

 private:
  struct Job {
    JobProcess process;
    Message message;
    std::optional<double> most_seconds;  // replaces the limit of each try; no retry after it
    bool is_second_try;
  };
  struct Server {
    JobProcess process;
    std::uint64_t prepare_id;
    Message message;  // what prepares it; until it has answered
    bool is_second_try = false;
    bool prepared = false;
    // Candidates that it runs, and since when.
    std::map<std::uint64_t, Clock::time_point> in_flight = {};
  };
  struct Waiting {
    std::uint64_t id;
    std::string key;
    Message message;
  };

  void wait();
  // Returns false if the order is malformed.
  bool take_order(Message order);
  void start(std::uint64_t id, Message message, std::optional<double> most_seconds,
             bool is_second_try = false);
  void look_at_jobs();
  // Reports the outcome of a job. An outcome that is too large to send becomes a failure.
  void report(std::uint64_t id, double seconds, Outcome outcome);
  void end_jobs();
  void cancel_candidates(const std::string& key);

  Result<JobProcess> fork_server(const Message& message, bool is_second_try);
  void start_server(std::uint64_t id, const std::string& key, Message message);
  void end_server(const std::string& key);
  // Returns false if the server is lost and must be erased.
  bool look_at_server(const std::string& key, Server& server);
  // Takes the answer of prepare. Returns false if it is a failure: the server has been ended.
  bool take_prepared(Server& server, Message answer);
  // Returns true if a server that failed to prepare, and has been ended, is being prepared once
  // more.
  bool prepare_once_more(Server& server, const Failure& failure);
  void report_lost(const std::string& key, const Server& server, const Failure& failure);
  void start_waiting();
  // Jobs and candidates, with the servers that are being prepared.
  std::size_t running() const;
  // Direct children, without the processes that they have started.
  std::vector<pid_t> pids() const;
  // Closes the parent's descriptors in a forked child.
  void let_go();

  const Role& role_;
  Connection asker_;
  const CompileHandlers& handlers_;
  const std::filesystem::path folder_;
  TreeSettings settings_;
  std::map<std::uint64_t, Job> jobs_;
  bool orphans_left_ = false;
  // The zygote alone has these.
  std::map<std::string, Server> servers_;
  std::deque<Waiting> waiting_;
  std::uint64_t servers_started_ = 0;
};

// Prepares one dispatch, answers on `socket`, and on success forks its candidates until the socket
// closes. Jobs have folders in `folder`.
void serve_prepared(UniqueFd socket, Message message, const CompileHandlers& handlers,
                    const TreeSettings& settings, const std::filesystem::path& folder) {
  become_subreaper();
  Outcome outcome = guarded(handlers.prepare, std::move(message), FailureKind::kCompileError);
  const bool prepared = outcome.has_value();
  answer(socket.get(), std::move(outcome));
  if (prepared)
    ForkServer(ForkServer::kPrepared, std::move(socket), handlers, folder, settings).serve();
}

bool ForkServer::serve() {
  bool understood = true;
  while (understood && !asker_.is_closed()) {
    wait();
    auto order = asker_.next();
    while (order && *order && take_order(std::move(**order))) order = asker_.next();
    understood = order && !*order;  // nothing is left
    look_at_jobs();
    for (auto at = servers_.begin(); at != servers_.end();)
      at = look_at_server(at->first, at->second) ? std::next(at) : servers_.erase(at);
    start_waiting();
    orphans_left_ = end_orphans(pids());
  }
  return understood;
}

// Waits for an event, or the next look at limits and orphans where something may need it.
void ForkServer::wait() {
  std::vector<pollfd> entries{{asker_.fd(), asker_.poll_events(), 0}};
  bool has_to_look = !jobs_.empty() || orphans_left_;
  for (const auto& [id, job] : jobs_) job.process.add_poll_entries(entries);
  for (const auto& [key, server] : servers_) {
    server.process.add_poll_entries(entries);
    has_to_look = has_to_look || !server.prepared || !server.in_flight.empty();
  }
  ::poll(entries.data(), entries.size(),
         has_to_look ? static_cast<int>(kLookInterval.count()) : -1);
  asker_.flush();
  asker_.fill();
}

bool ForkServer::take_order(Message order) {
  const std::string kind = order.kind;
  if (kind == "cancel" && !role_.has_servers) {
    end_jobs();
    return true;
  }
  const auto id = number_field(order, "id");
  if (kind == role_.order && id) {
    const double seconds = seconds_field(order);
    start(*id, unwrap(std::move(order)), seconds > 0 ? std::optional(seconds) : std::nullopt);
    return true;
  }
  if (!role_.has_servers) return false;
  if (kind == "configure") {
    const auto settings = settings_from(order);
    if (settings) settings_ = *settings;
    return settings.has_value();
  }
  const auto key = text_field(order, "key");
  if (kind == "prepare" && id && key) {
    start_server(*id, *key, unwrap(std::move(order)));
  } else if (kind == "run" && id && key) {
    waiting_.push_back({*id, *key, unwrap(std::move(order))});
  } else if (kind == "cancel" && key) {
    cancel_candidates(*key);
  } else if (kind == "release" && key) {
    end_server(*key);
  } else {
    return false;
  }
  return true;
}

void ForkServer::start(std::uint64_t id, Message message, std::optional<double> most_seconds,
                       bool is_second_try) {
  JobLimits limits = of_try(settings_.*role_.limits, is_second_try);
  if (most_seconds) limits.seconds = *most_seconds;
  auto job = JobProcess::start(
      folder_ / fmt::format("{}-{}", role_.folder, id), limits, [&](UniqueFd socket) {
        let_go();
        answer(socket.get(),
               guarded(handlers_.*role_.handler, std::move(message), FailureKind::kCompileError));
      });
  if (job)
    jobs_.emplace(id, Job{std::move(*job), std::move(message), most_seconds, is_second_try});
  else
    report(id, 0, tl::unexpected(Failure{FailureKind::kCompileCrash, job.error().message}));
}

void ForkServer::look_at_jobs() {
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    auto& [id, job] = *at;
    Event event = job.process.look();
    if (!event.message && !event.failure) {
      ++at;
      continue;
    }
    Outcome outcome = event.message ? job.process.outcome_in(std::move(*event.message))
                                    : Outcome(tl::unexpected(std::move(*event.failure)));
    job.process.end();
    if (is_tried_again(outcome, job.is_second_try) &&
        !(job.most_seconds && outcome.error().kind == FailureKind::kCompileTimeout)) {
      const std::uint64_t again = id;
      const std::optional<double> most_seconds = job.most_seconds;
      Message message = std::move(job.message);
      at = jobs_.erase(at);
      start(again, std::move(message), most_seconds, /*is_second_try=*/true);
    } else {
      report(id, job.process.seconds(), std::move(outcome));
      at = jobs_.erase(at);
    }
  }
}

void ForkServer::report(std::uint64_t id, double seconds, Outcome outcome) {
  const Status sent = asker_.send(to_report(id, seconds, std::move(outcome)));
  if (!sent)
    (void)asker_.send(to_report(
        id, seconds, tl::unexpected(Failure{FailureKind::kCompileError, sent.error().message})));
}

void ForkServer::end_jobs() {
  for (auto& [id, job] : jobs_) job.process.end();
  jobs_.clear();
}

void ForkServer::cancel_candidates(const std::string& key) {
  std::erase_if(waiting_, [&](const Waiting& each) { return each.key == key; });
  const auto found = servers_.find(key);
  if (found == servers_.end()) return;
  Server& server = found->second;
  if (!server.in_flight.empty()) server.process.connection().send({"cancel", nullptr, {}});
  server.in_flight.clear();
}

Result<JobProcess> ForkServer::fork_server(const Message& message, bool is_second_try) {
  const std::filesystem::path folder = folder_ / fmt::format("server-{}", ++servers_started_);
  return JobProcess::start(folder, of_try(settings_.prepare, is_second_try), [&](UniqueFd socket) {
    // The message may be the zygote's own, which letting go destroys.
    Message kept = message;
    let_go();
    serve_prepared(std::move(socket), std::move(kept), handlers_, settings_, folder);
  });
}

void ForkServer::start_server(std::uint64_t id, const std::string& key, Message message) {
  end_server(key);
  auto process = fork_server(message, /*is_second_try=*/false);
  if (process)
    servers_.emplace(key, Server{std::move(*process), id, std::move(message)});
  else
    report(id, 0, tl::unexpected(Failure{FailureKind::kCompileCrash, process.error().message}));
}

void ForkServer::end_server(const std::string& key) {
  const auto found = servers_.find(key);
  if (found != servers_.end()) {
    found->second.process.end();
    servers_.erase(found);
  }
  std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.key == key; });
}

bool ForkServer::prepare_once_more(Server& server, const Failure& failure) {
  if (server.prepared || !is_tried_again(Outcome(tl::unexpected(failure)), server.is_second_try))
    return false;
  auto process = fork_server(server.message, /*is_second_try=*/true);
  if (!process) return false;
  server.process = std::move(*process);
  server.is_second_try = true;
  return true;
}

bool ForkServer::look_at_server(const std::string& key, Server& server) {
  Event event = server.process.look();
  while (event.message && server.prepared) {
    const auto id = number_field(*event.message, "id");
    if (!id || (event.message->kind != "done" && event.message->kind != "failed")) {
      event = {{}, Failure{FailureKind::kCompileCrash, "it said what cannot be understood"}};
      break;
    }
    // A candidate that is not in flight was cancelled.
    if (server.in_flight.erase(*id) > 0) asker_.send(*event.message);
    event = server.process.look();
  }
  if (event.message) return take_prepared(server, std::move(*event.message));
  const auto hangs = [&](const auto& candidate) {
    return settings_.run.seconds > 0 &&
           std::chrono::duration<double>(Clock::now() - candidate.second).count() >
               seconds_of_both_tries(settings_.run) + kServerGraceSeconds;
  };
  if (!event.failure && std::ranges::any_of(server.in_flight, hangs))
    event.failure = Failure{FailureKind::kCompileCrash, "it hangs"};
  if (!event.failure) return true;
  end_orphans(pids());  // its candidates, if it died: they write to the folder that goes now
  server.process.end();
  if (prepare_once_more(server, *event.failure)) return true;
  report_lost(key, server, *event.failure);
  return false;
}

bool ForkServer::take_prepared(Server& server, Message answer) {
  Outcome outcome = server.process.outcome_in(std::move(answer));
  server.prepared = outcome.has_value();
  if (server.prepared) {
    server.process.lift_limits();
    server.message = {};
  } else {
    server.process.end();
  }
  report(server.prepare_id, server.process.seconds(), std::move(outcome));
  return server.prepared;
}

void ForkServer::report_lost(const std::string& key, const Server& server, const Failure& failure) {
  if (!server.prepared) {
    report(server.prepare_id, server.process.seconds(), tl::unexpected(failure));
    return;
  }
  nlohmann::json started = nlohmann::json::array();
  for (const auto& [id, since] : server.in_flight) started.push_back(id);
  nlohmann::json waiting = nlohmann::json::array();
  for (const Waiting& job : waiting_)
    if (job.key == key) waiting.push_back(job.id);
  std::erase_if(waiting_, [&](const Waiting& job) { return job.key == key; });
  asker_.send({"lost",
               {{"key", key},
                {"started", started},
                {"waiting", waiting},
                {"kind", provider::name_of(failure.kind)},
                {"message", failure.message}},
               {}});
}

void ForkServer::start_waiting() {
  for (auto job = waiting_.begin(); job != waiting_.end();) {
    if (running() >= settings_.jobs) return;
    // A job whose server is gone waits too: the tuner prepares the server again or releases it.
    const auto server = servers_.find(job->key);
    if (server == servers_.end() || !server->second.prepared) {
      ++job;
    } else {
      server->second.in_flight.emplace(job->id, Clock::now());
      asker_.send({"started", {{"id", job->id}}, {}});
      server->second.process.connection().send(
          wrap("run", {{"id", job->id}}, std::move(job->message)));
      job = waiting_.erase(job);
    }
  }
}

std::size_t ForkServer::running() const {
  std::size_t count = jobs_.size();
  for (const auto& [key, server] : servers_) count += server.prepared ? server.in_flight.size() : 1;
  return count;
}

std::vector<pid_t> ForkServer::pids() const {
  std::vector<pid_t> pids;
  for (const auto& [id, job] : jobs_) pids.push_back(job.process.pid());
  for (const auto& [key, server] : servers_) pids.push_back(server.process.pid());
  return pids;
}

void ForkServer::end_everything() {
  end_jobs();
  for (auto& [key, server] : servers_) server.process.end();
  constexpr int kRounds = 10000;
  for (int round = 0; round < kRounds && end_orphans({}); ++round) ::usleep(1000);
  remove_folder(folder_);
}

void ForkServer::let_go() {
  jobs_.clear();
  asker_ = Connection(UniqueFd());
  servers_.clear();
  waiting_.clear();
}

}  // namespace

int serve_zygote(int socket, const CompileHandlers& handlers) {
  const auto folder = begin_worker(socket);
  if (!folder) return folder.error();
  become_subreaper();
  std::fflush(nullptr);  // forked children must not print what waits here once more
  // The tuner may no longer read, and cleaning up must not wait for it.
  (void)set_nonblocking(STDERR_FILENO, true);
  ForkServer zygote(ForkServer::kZygote, UniqueFd(socket), handlers, folder->path());
  zygote.say_hello();
  const bool understood = zygote.serve();
  zygote.end_everything();
  if (!understood) say("the tuner said what cannot be understood\n");
  return understood ? 0 : 1;
}

}  // namespace hone::worker
