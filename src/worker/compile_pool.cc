#include "worker/compile_pool.h"

#include <poll.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "worker/job_process.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;
using Clock = std::chrono::steady_clock;

// Limit on consecutive deaths of a process with no job running in it; then it is not started again.
// A death with a job running may be the job's doing, and each job runs at most twice.
constexpr int kMostIdleDeaths = 2;
// Grace after a job's time limit. If the zygote has not reported the job by then, the zygote itself
// hangs.
constexpr double kZygoteGraceSeconds = 15;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Result<std::unique_ptr<CompilePool>> CompilePool::start(CompilePoolOptions options) {
  std::unique_ptr<CompilePool> pool(new CompilePool(std::move(options)));
  HONE_TRY(pool->start_zygote());
  return pool;
}

Status CompilePool::start_zygote() {
  HONE_ASSIGN(WorkerProcess session, WorkerProcess::start("compile worker", options_));
  zygote_.emplace(std::move(session));
  send(to_message(TreeSettings{static_cast<std::uint64_t>(std::max(options_.jobs, 1)),
                               options_.once, options_.prepare, options_.run}));
  return {};
}

Result<Outcome> CompilePool::once(const Message& message) {
  return wait_for(send_new(Kind::kOnce, "", message));
}

Result<std::vector<Outcome>> CompilePool::once_each(const std::vector<Message>& messages) {
  return side_by_side(messages.size(),
                      [&](std::size_t i) { return send_new(Kind::kOnce, "", messages[i]); });
}

std::optional<WorkerPool::Begun> CompilePool::begin_once(const Message& message) {
  if (options_.jobs < 2) return std::nullopt;
  const Sequence sequence = send_new(Kind::kOnce, "", message);
  // The socket takes a part of a large program at a time, and nobody may pump until the end.
  while (zygote_ && (zygote_->connection().poll_events() & POLLOUT) != 0)
    if (!pump(1)) break;  // who waits for the job is told why
  return sequence;
}

Result<Outcome> CompilePool::prepare(const std::string& key, const Message& message) {
  HONE_ASSIGN(std::vector<Outcome> outcomes, prepare_each({{key, message}}));
  return std::move(outcomes.front());
}

Result<std::vector<Outcome>> CompilePool::prepare_each(
    const std::vector<std::pair<std::string, Message>>& servers) {
  for (const auto& [key, message] : servers) HONE_TRY(release(key));
  HONE_ASSIGN(std::vector<Outcome> outcomes, side_by_side(servers.size(), [&](std::size_t i) {
                return send_new(Kind::kPrepare, servers[i].first, servers[i].second);
              }));
  for (std::size_t i = 0; i < servers.size(); ++i)
    if (outcomes[i]) servers_.emplace(servers[i].first, Server{servers[i].second, 0, {}});
  return outcomes;
}

CompilePool::Sequence CompilePool::send_new(Kind kind, const std::string& key,
                                            const Message& message) {
  const Sequence sequence = ++last_;
  Job job{kind, 0, key, message};
  if (kind == Kind::kOnce) job.most_seconds = most_seconds_;
  send_job(sequence, jobs_.emplace(sequence, std::move(job)).first->second);
  return sequence;
}

// Bounds the number of submitted once-jobs, since the zygote starts each of them at once.
Result<std::vector<Outcome>> CompilePool::side_by_side(
    std::size_t count, const std::function<Sequence(std::size_t)>& send) {
  const auto together = static_cast<std::size_t>(std::max(options_.jobs, 1));
  std::deque<Sequence> running;
  std::vector<Outcome> outcomes;
  const auto wait_for_first = [&]() -> Status {
    HONE_ASSIGN(Outcome outcome, wait_for(running.front()));
    running.pop_front();
    outcomes.push_back(std::move(outcome));
    return {};
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (running.size() == together) HONE_TRY(wait_for_first());
    running.push_back(send(i));
  }
  while (!running.empty()) HONE_TRY(wait_for_first());
  return outcomes;
}

Status CompilePool::release(const std::string& key) {
  servers_.erase(key);
  std::erase_if(jobs_, [&](const auto& entry) { return entry.second.key == key; });
  send({"release", {{"key", key}}, {}});
  send_suspects();
  return {};
}

Status CompilePool::submit(const std::string& key, JobId id, const Message& message) {
  const auto server = servers_.find(key);
  if (server == servers_.end())
    return input_error("no dispatch was prepared under the name '{}'", key);
  if (server->second.broken) {
    finished_.push_back({id, tl::unexpected(*server->second.broken), 0});
    return {};
  }
  const Sequence sequence = ++last_;
  send_job(sequence, jobs_.emplace(sequence, Job{Kind::kRun, id, key, message}).first->second);
  return {};
}

Result<std::optional<Finished>> CompilePool::next_finished(double seconds) {
  const auto begin = Clock::now();
  while (finished_.empty() && outstanding() > 0) {
    const double patience = seconds < 0 ? 1e9 : std::max(0.0, seconds - seconds_since(begin));
    HONE_TRY(pump(patience));
    if (patience == 0) break;
  }
  if (finished_.empty()) return std::nullopt;
  Finished first = std::move(finished_.front());
  finished_.pop_front();
  return first;
}

std::size_t CompilePool::outstanding() const {
  return finished_.size() +
         static_cast<std::size_t>(std::ranges::count_if(
             jobs_, [](const auto& entry) { return entry.second.kind == Kind::kRun; }));
}

Status CompilePool::cancel(const std::string& key) {
  std::erase_if(jobs_, [&](const auto& entry) {
    return entry.second.kind == Kind::kRun && entry.second.key == key;
  });
  send({"cancel", {{"key", key}}, {}});
  send_suspects();
  return {};
}

Result<Outcome> CompilePool::wait_for(Sequence sequence) {
  while (!answers_.contains(sequence)) {
    const Status pumped = pump(1e9);
    if (pumped) continue;
    jobs_.erase(sequence);
    return tl::unexpected(pumped.error());
  }
  Outcome outcome = std::move(answers_.at(sequence));
  answers_.erase(sequence);
  return outcome;
}

// Waits at most `seconds`, and never for ever, for an event, and handles it.
Status CompilePool::pump(double seconds) {
  if (is_readable(options_.stop_fd)) return interrupted();
  constexpr double kHangLookSeconds = 1;
  const double wait = std::min(seconds, kHangLookSeconds);
  if (!zygote_) return restart_zygote("it was not running");
  const bool gone = zygote_->is_gone();
  if (!gone) zygote_->wait(wait, options_.stop_fd);
  for (;;) {
    auto message = zygote_->connection().next();
    if (!message) return restart_zygote(message.error().message);
    if (!*message) break;
    const Status understood = take(std::move(**message));
    if (!understood) return restart_zygote(understood.error().message);
  }
  const bool hangs = std::ranges::any_of(jobs_, [&](const auto& entry) {
    const Job& job = entry.second;
    const double limit = limit_of(job);
    return job.started && limit > 0 && seconds_since(*job.started) > limit + kZygoteGraceSeconds;
  });
  if (gone || hangs) return restart_zygote(gone ? "" : "it hangs");
  return {};
}

Status CompilePool::take(Message message) {
  if (message.kind == "lost") {
    take_loss(message);
    return {};
  }
  const bool is_report = message.kind == "done" || message.kind == "failed";
  if (!is_report && message.kind != "started")
    return failure("it said '{}', which means nothing here", message.kind);
  const Sequence sequence = number_field(message, "id").value_or(0);
  const auto found = jobs_.find(sequence);
  if (found == jobs_.end()) return {};  // cancelled
  Job& job = found->second;
  if (!is_report) {
    job.started = Clock::now();
    return {};
  }
  if (!job.is_internal) {
    zygote_idle_deaths_ = 0;
    if (const auto server = servers_.find(job.key); server != servers_.end())
      server->second.idle_deaths = 0;
  }
  const double seconds = seconds_field(message), ended = seconds_field(message, "ended");
  finish(sequence, outcome_from_report(std::move(message)), seconds, ended);
  send_suspects();
  return {};
}

void CompilePool::take_loss(const Message& message) {
  const std::string key = text_field(message, "key").value_or("");
  const Failure why{provider::failure_kind_from(text_field(message, "kind").value_or(""))
                        .value_or(FailureKind::kCompileCrash),
                    "its prepared server died: " + text_field(message, "message").value_or("")};
  const auto server = servers_.find(key);
  if (server == servers_.end()) return;
  ++restarts_;
  ++server->second.idle_deaths;
  const auto started = decode_json<std::set<Sequence>>(message.body, "started");
  for (const Sequence sequence : started.value_or(std::set<Sequence>()))
    if (const auto job = jobs_.find(sequence); job != jobs_.end()) {
      server->second.idle_deaths = 0;
      lose(sequence, job->second, why);
    }
  if (server->second.idle_deaths > kMostIdleDeaths)
    break_server(key, why);
  else
    prepare_again(key);
}

Status CompilePool::restart_zygote(const std::string& reason) {
  Failure why{FailureKind::kCompileCrash, reason};
  if (zygote_) {
    zygote_->end(/*seconds=*/0);
    why.message = fmt::format("the compile worker died: {}{}{}", reason, reason.empty() ? "" : ", ",
                              zygote_->last_words());
    if (reason.empty())  // else it was ended by hone for that reason
      why.kind = provider::died_of(zygote_->process().exit_signal(), FailureKind::kCompileCrash,
                                   FailureKind::kCompileKilled);
    zygote_.reset();
  }
  ++restarts_;
  ++zygote_idle_deaths_;
  std::vector<Sequence> again;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    const auto entry = at++;  // losing it may erase it
    auto& [sequence, job] = *entry;
    if (job.is_internal) {
      jobs_.erase(entry);
    } else if (job.started) {
      zygote_idle_deaths_ = 0;
      if (!lose(sequence, job, why) && job.kind != Kind::kRun) again.push_back(sequence);
    }
  }
  if (zygote_idle_deaths_ > kMostIdleDeaths)
    return environment_error("{}; it died {} times with nothing to do", why.message,
                             zygote_idle_deaths_);
  HONE_TRY(start_zygote());
  for (const Sequence sequence : again) send_job(sequence, jobs_.at(sequence));
  std::vector<std::string> keys;
  for (const auto& [key, server] : servers_)
    if (!server.broken) keys.push_back(key);
  for (const std::string& key : keys) prepare_again(key);
  return {};
}

// Prepares the server `key` anew and hands in its candidates once more.
void CompilePool::prepare_again(const std::string& key) {
  const Sequence sequence = ++last_;
  Job& prepare =
      jobs_.emplace(sequence, Job{Kind::kPrepare, 0, key, servers_.at(key).message}).first->second;
  prepare.is_internal = true;
  send_job(sequence, prepare);
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    auto& [number, job] = *at++;  // sending it may erase it
    if (job.kind != Kind::kRun || job.key != key) continue;
    job.is_held = job.losses > 0;
    if (!job.is_held) send_job(number, job);
  }
  send_suspects();
}

// Retries suspects, jobs that ran when their process died, one at a time. Only the guilty one is
// then caught twice.
void CompilePool::send_suspects() {
  const auto is_suspect = [](const Job& job) { return job.kind == Kind::kRun && job.losses > 0; };
  for (const auto& [sequence, job] : jobs_)
    if (is_suspect(job) && !job.is_held) return;
  for (auto& [sequence, job] : jobs_) {
    if (!is_suspect(job)) continue;
    job.is_held = false;
    send_job(sequence, job);
    return;
  }
}

bool CompilePool::lose(Sequence sequence, Job& job, const Failure& failure) {
  job.started.reset();
  if (provider::is_tried_again(provider::Attempt::kLostJob, failure.kind, ++job.losses)) {
    job.is_held = true;
    return false;
  }
  finish(sequence, tl::unexpected(failure), 0);
  return true;
}

void CompilePool::send_job(Sequence sequence, Job& job) {
  nlohmann::json fields = {{"id", sequence}};
  if (job.kind != Kind::kOnce) fields["key"] = job.key;
  if (job.most_seconds) fields["seconds"] = *job.most_seconds;
  if (job.kind != Kind::kRun) job.started = Clock::now();
  const char* kind = job.kind == Kind::kOnce      ? "once"
                     : job.kind == Kind::kPrepare ? "prepare"
                                                  : "run";
  const Message message = wrap(kind, std::move(fields), job.message);
  if (const auto frame = encode(message); !frame)
    finish(sequence, tl::unexpected(Failure{FailureKind::kCompileError, frame.error().message}), 0);
  else
    send(message);
}

// If the zygote is gone, the next pump() notices it and sends everything again.
void CompilePool::send(const Message& message) {
  if (zygote_) (void)zygote_->connection().send(message);
}

void CompilePool::finish(Sequence sequence, Outcome outcome, double seconds, double ended) {
  const auto found = jobs_.find(sequence);
  const Job job = std::move(found->second);
  jobs_.erase(found);
  if (job.kind == Kind::kRun) {
    Finished& finished = finished_.emplace_back(Finished{job.id, std::move(outcome), seconds});
    if (ended > 0) finished.ended = std::min(finished.ended, ended);
  } else if (!job.is_internal) {
    if (ended > 0) job_times_.push_back({job.message.kind, seconds, ended});
    answers_.emplace(sequence, std::move(outcome));
  } else if (!outcome && servers_.contains(job.key)) {
    // It was prepared before, so a crash now may be an accident (the system out of memory).
    // The zygote forgets the candidates of a server that it prepares anew.
    Server& server = servers_.at(job.key);
    const FailureKind kind = outcome.error().kind;
    if ((kind == FailureKind::kCompileCrash || provider::is_accident(kind)) &&
        ++server.idle_deaths <= kMostIdleDeaths)
      return prepare_again(job.key);
    break_server(job.key, {outcome.error().kind,
                           "its prepared server died and could not be prepared again: " +
                               outcome.error().message});
  }
}

void CompilePool::break_server(const std::string& key, const Failure& failure) {
  servers_.at(key).broken = failure;
  send({"release", {{"key", key}}, {}});
  std::vector<Sequence> orphaned;
  for (const auto& [sequence, job] : jobs_)
    if (job.kind == Kind::kRun && job.key == key) orphaned.push_back(sequence);
  for (const Sequence sequence : orphaned) finish(sequence, tl::unexpected(failure), 0);
  send_suspects();
}

double CompilePool::limit_of(const Job& job) const {
  if (job.most_seconds) return 2 * *job.most_seconds;
  return seconds_of_both_tries(job.kind == Kind::kOnce      ? options_.once
                               : job.kind == Kind::kPrepare ? options_.prepare
                                                            : options_.run);
}

}  // namespace hone::worker
