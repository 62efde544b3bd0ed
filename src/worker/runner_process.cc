#include "worker/runner_process.h"

#include <unistd.h>

#include <chrono>

#include "base/process_tree.h"
#include "base/say.h"
#include "base/text.h"
#include "worker/janitor.h"
#include "worker/job_process.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;

// Interval of the looks at the runner; shorter ones would disturb what it measures.
constexpr double kMemoryLookSeconds = 0.25;

constexpr double kPingSeconds = 10;

// Runs in the runner; returns false if the runner must leave.
bool answer_all(int socket, const RunnerHandler& handler, const std::function<bool()>& is_lost) {
  FrameDecoder decoder;
  while (true) {
    const auto message = read_message(socket, decoder);
    if (!message) {
      say("{}\n", message.error().message);
      return false;
    }
    if (!*message) return true;
    if ((*message)->kind == kPing) {
      answer(socket, Outcome(Message{std::string(kPing), {}, {}}));
      continue;
    }
    const Outcome outcome =
        guarded(handler, std::move(**message), provider::FailureKind::kKernelCrash);
    if (!outcome && is_lost && is_lost()) {
      say("{}\n", outcome.error().message);
      return false;
    }
    answer(socket, outcome);
  }
}

}  // namespace

Outcome RunnerProcess::lost(FailureKind kind, std::string why) {
  const bool died = why.empty();
  Failure failure = worker_->fail(kind, std::move(why), FailureKind::kKernelKilled);
  if (died && worker_->process().exit_code() >= 0)
    failure.message = "no answer, " + failure.message;
  stop();
  return tl::unexpected(std::move(failure));
}

Status RunnerProcess::start() {
  if (worker_ && !worker_->is_gone()) return {};
  stop();
  HONE_ASSIGN(WorkerProcess worker, WorkerProcess::start("runner", options_));
  worker_.emplace(std::move(worker));
  ++generation_;
  return {};
}

Status RunnerProcess::ensure_ready() {
  if (worker_ && !worker_->is_gone()) {
    const auto answer = call({std::string(kPing), nullptr, {}}, kPingSeconds);
    if (!answer && answer.error().kind == ErrorKind::kInterrupted)
      return tl::unexpected(answer.error());
    if (!answer) stop();  // it closed its socket this moment
  }
  return start();
}

Result<Outcome> RunnerProcess::call(const Message& message, double seconds) {
  HONE_TRY(start());
  worker_->forget_words();
  HONE_TRY(worker_->connection().send(message));
  const std::uint64_t memory_limit = options_.memory_bytes;
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const bool gone = worker_->is_gone();  // before reading: what it said last is then there
    auto reply = worker_->connection().next();
    if (!reply)
      return lost(FailureKind::kKernelCrash, "its answer cannot be read: " + reply.error().message);
    if (*reply) return outcome_from(std::move(**reply));
    if (gone) return lost(FailureKind::kKernelCrash, "");
    if (is_readable(options_.stop_fd)) {
      worker_->end(/*seconds=*/0);
      stop();
      return interrupted();
    }
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    if (seconds > 0 && waited.count() >= seconds)
      return lost(FailureKind::kKernelTimeout,
                  fmt::format("no answer after {}", format_duration(seconds)));
    if (memory_limit > 0 && resident_bytes(worker_->process().pid()) > memory_limit)
      return lost(FailureKind::kKernelCrash, more_memory_than(memory_limit));
    double patience = seconds > 0 ? seconds - waited.count() : -1;
    if (memory_limit > 0 && (patience < 0 || patience > kMemoryLookSeconds))
      patience = kMemoryLookSeconds;
    worker_->wait(patience, options_.stop_fd);
  }
}

int serve_runner(int socket, const RunnerHandler& handler, const std::function<bool()>& is_lost) {
  const auto folder = begin_worker(socket);
  if (!folder) return folder.error();
  const UniqueFd tuner(socket);
  const bool understood = write_message(tuner.get(), {"hello", {{"pid", ::getpid()}}, {}}) &&
                          answer_all(tuner.get(), handler, is_lost);
  return understood ? 0 : 1;
}

}  // namespace hone::worker
