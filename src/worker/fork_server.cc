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
#include "base/say.h"
#include "worker/forking_server.h"
#include "worker/janitor.h"
#include "worker/session_folder.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;
using Clock = std::chrono::steady_clock;

// Grace after a candidate's time limit. If the prepared server has not reported it by then, the
// server itself hangs.
constexpr double kServerGraceSeconds = 5;

// The process that prepares one dispatch and forks its candidates. It prepares, answers on
// `socket`, and on success serves until the socket closes. Jobs have folders in `folder`.
void serve_prepared(UniqueFd socket, Message message, const CompileHandlers& handlers,
                    const TreeSettings& settings, const std::filesystem::path& folder) {
  become_subreaper();
  Outcome outcome = guarded(handlers.prepare, std::move(message), FailureKind::kCompileError);
  const bool prepared = outcome.has_value();
  answer(socket.get(), std::move(outcome));
  if (prepared)
    ForkingServer(std::move(socket), handlers.run, &TreeSettings::run, folder, "job", settings)
        .serve();
}

// The process that the tuner starts for one set of compiler flags. It is the parent of the prepared
// servers and of once-jobs, and cleans up when the tuner is gone.
class Zygote final : public ForkingServer {
 public:
  // `folder` is the session's own; all files go in it.
  Zygote(UniqueFd tuner, const CompileHandlers& handlers, std::filesystem::path folder)
      : ForkingServer(std::move(tuner), handlers.once, &TreeSettings::once, std::move(folder),
                      "once"),
        handlers_(handlers) {
    asker_.send({"hello", {{"pid", ::getpid()}}, {}});
  }

  // Ends all processes below and removes `folder`.
  void end_everything();

 private:
  // Candidates that a prepared server runs, and since when.
  using InFlight = std::map<std::uint64_t, std::chrono::steady_clock::time_point>;
  struct Server {
    JobProcess process;
    std::uint64_t prepare_id;
    Message message;  // what prepares it; until it has answered
    bool is_second_try = false;
    bool prepared = false;
    InFlight in_flight = {};
  };
  struct Waiting {
    std::uint64_t id;
    std::string key;
    Message message;
  };

  bool take_order(Message order) override;
  void look() override;
  bool add_poll_entries(std::vector<pollfd>& entries) const override;
  std::vector<pid_t> pids() const override;
  void let_go() override;

  void start_server(std::uint64_t id, const std::string& key, Message message);
  Result<JobProcess> fork_server(const Message& message, bool is_second_try);
  // Returns true if a server that failed to prepare, and has been ended, is being prepared once
  // more.
  bool prepare_once_more(Server& server, const provider::Failure& failure);
  void end_server(const std::string& key);
  void cancel_candidates();
  // Returns false if the server is lost and must be erased.
  bool look_at_server(const std::string& key, Server& server);
  bool take_report(Server& server, Message message);
  void report_lost(const std::string& key, const Server& server, const provider::Failure& failure);
  void start_waiting();
  std::size_t running() const;

  const CompileHandlers& handlers_;
  std::map<std::string, Server> servers_;
  std::deque<Waiting> waiting_;
  std::uint64_t servers_started_ = 0;
};

bool Zygote::add_poll_entries(std::vector<pollfd>& entries) const {
  bool has_to_look = false;
  for (const auto& [key, server] : servers_) {
    server.process.add_poll_entries(entries);
    has_to_look = has_to_look || !server.prepared || !server.in_flight.empty();
  }
  return has_to_look;
}

bool Zygote::take_order(Message order) {
  const std::string kind = order.kind;
  if (kind == "configure") {
    const auto settings = settings_from(order);
    if (settings) settings_ = *settings;
    return settings.has_value();
  }
  if (kind == "cancel") {
    cancel_candidates();
    return true;
  }
  const auto id = number_field(order, "id");
  const auto key = text_field(order, "key");
  if (kind == "once" && id) {
    const double seconds = seconds_field(order);
    start(*id, unwrap(std::move(order)), seconds > 0 ? std::optional(seconds) : std::nullopt);
  } else if (kind == "prepare" && id && key) {
    start_server(*id, *key, unwrap(std::move(order)));
  } else if (kind == "run" && id && key) {
    waiting_.push_back({*id, *key, unwrap(std::move(order))});
  } else if (kind == "release" && key) {
    end_server(*key);
  } else {
    return false;
  }
  return true;
}

Result<JobProcess> Zygote::fork_server(const Message& message, bool is_second_try) {
  const std::filesystem::path folder = folder_ / fmt::format("server-{}", ++servers_started_);
  return JobProcess::start(folder, of_try(settings_.prepare, is_second_try), [&](UniqueFd socket) {
    // The message may be the zygote's own, which letting go destroys.
    Message kept = message;
    let_go();
    serve_prepared(std::move(socket), std::move(kept), handlers_, settings_, folder);
  });
}

void Zygote::start_server(std::uint64_t id, const std::string& key, Message message) {
  end_server(key);
  auto process = fork_server(message, /*is_second_try=*/false);
  if (process)
    servers_.emplace(key, Server{std::move(*process), id, std::move(message)});
  else
    report(id, 0, tl::unexpected(Failure{FailureKind::kCompileCrash, process.error().message}));
}

void Zygote::end_server(const std::string& key) {
  const auto found = servers_.find(key);
  if (found != servers_.end()) {
    found->second.process.end();
    servers_.erase(found);
  }
  std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.key == key; });
}

void Zygote::cancel_candidates() {
  waiting_.clear();
  for (auto& [key, server] : servers_) {
    if (!server.in_flight.empty()) server.process.connection().send({"cancel", nullptr, {}});
    server.in_flight.clear();
  }
}

bool Zygote::prepare_once_more(Server& server, const Failure& failure) {
  if (server.prepared || !is_tried_again(Outcome(tl::unexpected(failure)), server.is_second_try))
    return false;
  auto process = fork_server(server.message, /*is_second_try=*/true);
  if (!process) return false;
  server.process = std::move(*process);
  server.is_second_try = true;
  return true;
}

void Zygote::look() {
  for (auto at = servers_.begin(); at != servers_.end();)
    at = look_at_server(at->first, at->second) ? std::next(at) : servers_.erase(at);
  start_waiting();
}

bool Zygote::look_at_server(const std::string& key, Server& server) {
  Event event = server.process.look();
  while (event.message && server.prepared) {
    if (!take_report(server, std::move(*event.message))) {
      event = {{}, Failure{FailureKind::kCompileCrash, "it said what cannot be understood"}};
      break;
    }
    event = server.process.look();
  }
  if (event.message) {  // the answer of prepare
    Outcome outcome = outcome_from(std::move(*event.message));
    server.prepared = outcome.has_value();
    if (server.prepared) {
      server.process.lift_limits();
      server.message = {};
    } else {
      outcome = tl::unexpected(server.process.with_last_words(std::move(outcome.error())));
      server.process.end();
    }
    report(server.prepare_id, server.process.seconds(), std::move(outcome));
    return server.prepared;
  }
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

bool Zygote::take_report(Server& server, Message message) {
  const auto id = number_field(message, "id");
  if (!id || (message.kind != "done" && message.kind != "failed")) return false;
  // A job that is not in flight was cancelled.
  if (server.in_flight.erase(*id) > 0) asker_.send(message);
  return true;
}

void Zygote::report_lost(const std::string& key, const Server& server, const Failure& failure) {
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

void Zygote::start_waiting() {
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

std::size_t Zygote::running() const {
  std::size_t count = running_jobs();
  for (const auto& [key, server] : servers_) count += server.prepared ? server.in_flight.size() : 1;
  return count;
}

std::vector<pid_t> Zygote::pids() const {
  std::vector<pid_t> pids = ForkingServer::pids();
  for (const auto& [key, server] : servers_) pids.push_back(server.process.pid());
  return pids;
}

void Zygote::end_everything() {
  end_jobs();
  for (auto& [key, server] : servers_) server.process.end();
  constexpr int kRounds = 10000;
  for (int round = 0; round < kRounds && end_orphans({}); ++round) ::usleep(1000);
  remove_folder(folder_);
}

void Zygote::let_go() {
  ForkingServer::let_go();
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
  Zygote zygote(UniqueFd(socket), handlers, folder->path());
  const bool understood = zygote.serve();
  zygote.end_everything();
  if (!understood) say("the tuner said what cannot be understood\n");
  return understood ? 0 : 1;
}

}  // namespace hone::worker
