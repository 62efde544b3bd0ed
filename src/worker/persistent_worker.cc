#include "worker/persistent_worker.h"

#include <utility>

#include "base/process_tree.h"
#include "base/text.h"
#include "worker/job_process.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;

constexpr std::chrono::milliseconds kMemoryLook{100};

std::uint64_t memory_of(pid_t pid) {
  std::uint64_t bytes = resident_bytes(pid);
  for (const pid_t each : descendants_of(pid)) bytes += resident_bytes(each);
  return bytes;
}

}  // namespace

Status PersistentWorker::start() {
  if (session_ && !session_->is_gone()) return {};
  session_.reset();
  key_.clear();
  auto session = WorkerProcess::start({"compile worker", options_->command, options_->environment,
                                       options_->temporary, options_->start_seconds,
                                       options_->limits.output_bytes, options_->stop_fd});
  if (!session) return tl::unexpected(std::move(session).error());
  session_.emplace(std::move(*session));
  ++restarts_;
  return {};
}

Status PersistentWorker::begin(PersistentJob job) {
  HONE_TRY(start());
  session_->forget_words();
  begin_ = next_look_ = std::chrono::steady_clock::now();
  preparing_ = job.prepare.has_value() && job.key != key_;
  forgotten_ = false;
  job_ = std::move(job);
  // An answer is owed for each; the worker takes them in order.
  Status sent;
  if (preparing_) sent = session_->connection().send(*job_->prepare);
  if (sent) sent = session_->connection().send(job_->message);
  // A worker that has just died is found by look(); a message too large is the job's failure.
  if (!sent && !session_->connection().is_closed()) {
    job_.reset();
    return sent;
  }
  key_ = job_->prepare ? job_->key : "";
  return {};
}

double PersistentWorker::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

std::optional<Finished> PersistentWorker::finish(Outcome outcome) {
  PersistentJob job = std::move(*job_);
  job_.reset();
  if (std::exchange(forgotten_, false)) return std::nullopt;
  if (is_tried_again(outcome, job.is_second_try)) {
    job.is_second_try = true;
    again_ = std::move(job);
    return std::nullopt;
  }
  return Finished{job.id, std::move(outcome), seconds()};
}

std::optional<Finished> PersistentWorker::die(FailureKind kind, std::string why) {
  session_->end(/*seconds=*/0);
  const std::string words = session_->last_words();
  if (why.empty()) {
    why = words;
    kind = provider::died_of(session_->process().exit_signal(), kind, FailureKind::kCompileKilled);
  } else if (const auto line = words.find('\n'); line != std::string::npos) {
    why += words.substr(line);  // before it: the SIGKILL that was hone's own
  }
  session_.reset();
  key_.clear();
  return finish(tl::unexpected(Failure{kind, std::move(why)}));
}

std::optional<Finished> PersistentWorker::look() {
  if (!job_) return std::nullopt;
  session_->wait(/*seconds=*/0, /*stop_fd=*/-1);
  const bool gone = session_->is_gone();  // before reading: what it said last is then there
  auto reply = session_->connection().next();
  if (!reply)
    return die(FailureKind::kCompileCrash, "its answer cannot be read: " + reply.error().message);
  if (*reply) {
    Outcome outcome = outcome_from(std::move(**reply));
    if (!std::exchange(preparing_, false)) return finish(std::move(outcome));
    if (outcome) return look();
    // Prepared before and not now: of this job there is nothing to expect either.
    return die(FailureKind::kCompileError, outcome.error().message);
  }
  if (gone) return die(FailureKind::kCompileCrash, "");
  const JobLimits limits = job_->is_second_try ? of_second_try(options_->limits) : options_->limits;
  if (limits.seconds > 0 && seconds() > limits.seconds)
    return die(FailureKind::kCompileTimeout,
               fmt::format("no answer after {}", format_duration(limits.seconds)));
  const auto now = std::chrono::steady_clock::now();
  if (limits.memory_bytes > 0 && now >= next_look_) {
    next_look_ = now + kMemoryLook;
    if (memory_of(session_->process().pid()) > limits.memory_bytes)
      return die(FailureKind::kCompileMemory,
                 fmt::format("more than {:.2f} GiB of memory",
                             static_cast<double>(limits.memory_bytes) / (1 << 30)));
  }
  return std::nullopt;
}

void PersistentWorker::add_poll_entries(std::vector<pollfd>& entries) const {
  if (job_) session_->add_poll_entries(entries);
}

}  // namespace hone::worker
