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
#include "worker/envelope.h"
#include "worker/janitor.h"
#include "worker/job_process.h"
#include "worker/prepared_server.h"
#include "worker/session_folder.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;
using Clock = std::chrono::steady_clock;

// A prepared server that has not reported a candidate this long after its time limit hangs itself.
constexpr double kServerGraceSeconds = 5;

// The process that the tuner starts for one set of compiler flags: parent of the prepared servers
// and of once-jobs, and the one who cleans up when the tuner is gone.
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
    std::optional<double> most_seconds;  // of each try, where the tuner said so
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
  void start_once(std::uint64_t id, Message message, std::optional<double> most_seconds,
                  bool is_second_try = false);
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

Zygote::Zygote(UniqueFd tuner, const CompileHandlers& handlers, std::filesystem::path folder)
    : tuner_(std::move(tuner)), handlers_(handlers), folder_(std::move(folder)) {}

bool Zygote::serve() {
  tuner_.send({"hello", {{"pid", ::getpid()}}, {}});
  bool understood = true;
  while (understood && !tuner_.is_closed()) {
    wait();
    tuner_.flush();
    tuner_.fill();
    understood = take_orders();
    look_at_once_jobs();
    look_at_servers();
    start_waiting();
    orphans_left_ = end_orphans(pids());
  }
  end_everything();
  return understood;
}

void Zygote::wait() {
  std::vector<pollfd> entries{{tuner_.fd(), tuner_.poll_events(), 0}};
  for (const auto& [id, job] : once_jobs_) job.process.add_poll_entries(entries);
  bool has_to_look = !once_jobs_.empty() || orphans_left_;
  for (const auto& [key, server] : servers_) {
    server.process.add_poll_entries(entries);
    has_to_look = has_to_look || !server.prepared || !server.in_flight.empty();
  }
  ::poll(entries.data(), entries.size(),
         has_to_look ? static_cast<int>(kLookInterval.count()) : -1);
}

bool Zygote::take_orders() {
  while (true) {
    auto order = tuner_.next();
    if (!order) return false;
    if (!*order) return true;
    if (!take_order(std::move(**order))) return false;
  }
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
    start_once(*id, unwrap(std::move(order)), seconds > 0 ? std::optional(seconds) : std::nullopt);
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

void Zygote::start_once(std::uint64_t id, Message message, std::optional<double> most_seconds,
                        bool is_second_try) {
  JobLimits limits = is_second_try ? of_second_try(settings_.once) : settings_.once;
  if (most_seconds) limits.seconds = *most_seconds;
  auto job = JobProcess::start(folder_ / fmt::format("once-{}", id), limits, [&](UniqueFd socket) {
    let_go();
    answer(socket.get(), guarded(handlers_.once, message, FailureKind::kCompileError));
  });
  if (job)
    once_jobs_.emplace(id,
                       OnceJob{std::move(*job), std::move(message), is_second_try, most_seconds});
  else
    send_report(tuner_, id, 0,
                tl::unexpected(Failure{FailureKind::kCompileCrash, job.error().message}));
}

Result<JobProcess> Zygote::fork_server(const Message& message, bool is_second_try) {
  const std::filesystem::path folder = folder_ / fmt::format("server-{}", ++servers_started_);
  const JobLimits limits = is_second_try ? of_second_try(settings_.prepare) : settings_.prepare;
  return JobProcess::start(folder, limits, [&](UniqueFd socket) {
    // The message may be the zygote's own, which letting go destroys.
    const Message kept = message;
    let_go();
    serve_prepared(std::move(socket), kept, handlers_, settings_, folder);
  });
}

void Zygote::start_server(std::uint64_t id, const std::string& key, Message message) {
  end_server(key);
  auto process = fork_server(message, /*is_second_try=*/false);
  if (process)
    servers_.emplace(key, Server{std::move(*process), id, std::move(message), false, false, {}});
  else
    send_report(tuner_, id, 0,
                tl::unexpected(Failure{FailureKind::kCompileCrash, process.error().message}));
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

void Zygote::look_at_once_jobs() {
  for (auto at = once_jobs_.begin(); at != once_jobs_.end();) {
    auto& [id, job] = *at;
    auto outcome = take_outcome(job.process);
    if (!outcome) {
      ++at;
    } else if (is_tried_again(*outcome, job.is_second_try) &&
               !(job.most_seconds && outcome->error().kind == FailureKind::kCompileTimeout)) {
      const std::uint64_t again = id;
      const std::optional<double> most_seconds = job.most_seconds;
      Message message = std::move(job.message);
      at = once_jobs_.erase(at);
      start_once(again, std::move(message), most_seconds, /*is_second_try=*/true);
    } else {
      send_report(tuner_, id, job.process.seconds(), std::move(*outcome));
      at = once_jobs_.erase(at);
    }
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

void Zygote::look_at_servers() {
  for (auto at = servers_.begin(); at != servers_.end();)
    at = look_at_server(at->first, at->second) ? std::next(at) : servers_.erase(at);
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
    send_report(tuner_, server.prepare_id, server.process.seconds(), std::move(outcome));
    return server.prepared;
  }
  const auto hangs = [&](const auto& candidate) {
    return settings_.run.seconds > 0 &&
           std::chrono::duration<double>(Clock::now() - candidate.second).count() >
               seconds_of_both_tries(settings_.run) + kServerGraceSeconds;
  };
  if (!event.failure && std::any_of(server.in_flight.begin(), server.in_flight.end(), hangs))
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
  // One that is not in flight was cancelled.
  if (server.in_flight.erase(*id) > 0) tuner_.send(message);
  return true;
}

void Zygote::report_lost(const std::string& key, const Server& server, const Failure& failure) {
  if (!server.prepared) {
    send_report(tuner_, server.prepare_id, server.process.seconds(), tl::unexpected(failure));
    return;
  }
  nlohmann::json started = nlohmann::json::array();
  for (const auto& [id, since] : server.in_flight) started.push_back(id);
  nlohmann::json waiting = nlohmann::json::array();
  for (const Waiting& job : waiting_)
    if (job.key == key) waiting.push_back(job.id);
  std::erase_if(waiting_, [&](const Waiting& job) { return job.key == key; });
  tuner_.send({"lost",
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
    // One whose server is gone waits too: the tuner prepares it again or releases it.
    const auto server = servers_.find(job->key);
    if (server == servers_.end() || !server->second.prepared) {
      ++job;
    } else {
      server->second.in_flight.emplace(job->id, Clock::now());
      tuner_.send({"started", {{"id", job->id}}, {}});
      server->second.process.connection().send(
          wrap("run", {{"id", job->id}}, std::move(job->message)));
      job = waiting_.erase(job);
    }
  }
}

std::size_t Zygote::running() const {
  std::size_t count = once_jobs_.size();
  for (const auto& [key, server] : servers_) count += server.prepared ? server.in_flight.size() : 1;
  return count;
}

std::vector<pid_t> Zygote::pids() const {
  std::vector<pid_t> pids;
  for (const auto& [id, job] : once_jobs_) pids.push_back(job.process.pid());
  for (const auto& [key, server] : servers_) pids.push_back(server.process.pid());
  return pids;
}

void Zygote::end_everything() {
  for (auto& [id, job] : once_jobs_) job.process.end();
  for (auto& [key, server] : servers_) server.process.end();
  constexpr int kRounds = 10000;
  for (int round = 0; round < kRounds && end_orphans({}); ++round) ::usleep(1000);
  remove_folder(folder_);
}

void Zygote::let_go() {
  once_jobs_.clear();
  servers_.clear();
  waiting_.clear();
  tuner_ = Connection(UniqueFd());
}

}  // namespace

int serve_zygote(int socket, const CompileHandlers& handlers) {
  const auto folder = SessionFolder::claim();
  if (!folder) {
    say("{}\n", folder.error().message);
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);  // of words that no tuner reads any more
  const Status watched = start_janitor(socket, *folder);
  if (!watched) {
    say("{}\n", watched.error().message);
    return 3;
  }
  become_subreaper();
  std::fflush(nullptr);  // forked children must not print what waits here once more
  // Nobody may be reading any more, and who cleans up must not wait for that.
  (void)set_nonblocking(STDERR_FILENO, true);
  if (!Zygote(UniqueFd(socket), handlers, folder->path()).serve()) {
    say("the tuner said what cannot be understood\n");
    return 1;
  }
  return 0;
}

}  // namespace hone::worker
