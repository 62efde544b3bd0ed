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
  HONE_ASSIGN(WorkerProcess session, WorkerProcess::start("compile worker", *options_));
  session_.emplace(std::move(session));
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
  Failure failure = session_->fail(kind, std::move(why), FailureKind::kCompileKilled);
  session_.reset();
  key_.clear();
  return finish(tl::unexpected(std::move(failure)));
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
    // The key could be prepared before but not now, so this job cannot run either.
    return die(FailureKind::kCompileError, outcome.error().message);
  }
  if (gone) return die(FailureKind::kCompileCrash, "");
  const JobLimits limits = of_try(options_->limits, job_->is_second_try);
  if (limits.seconds > 0 && seconds() > limits.seconds)
    return die(FailureKind::kCompileTimeout,
               fmt::format("no answer after {}", format_duration(limits.seconds)));
  const auto now = std::chrono::steady_clock::now();
  if (limits.memory_bytes > 0 && now >= next_look_) {
    next_look_ = now + kMemoryLook;
    if (memory_of(session_->process().pid()) > limits.memory_bytes)
      return die(FailureKind::kCompileMemory, more_memory_than(limits.memory_bytes));
  }
  return std::nullopt;
}

void PersistentWorker::add_poll_entries(std::vector<pollfd>& entries) const {
  if (job_) session_->add_poll_entries(entries);
}

}  // namespace hone::worker
