#include "worker/runner_process.h"

#include <unistd.h>

#include "base/process_tree.h"
#include "base/text.h"
#include "worker/janitor.h"
#include "worker/job_process.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;

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

Result<std::vector<Outcome>> RunnerTransport::call_all(const std::vector<Message>& messages,
                                                       double seconds) {
  std::vector<Outcome> outcomes;
  for (const Message& message : messages) {
    HONE_ASSIGN(outcomes.emplace_back(), call(message, seconds));
    if (!outcomes.back()) break;
  }
  return outcomes;
}

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
  using enum NoAnswer::Reason;
  const std::uint64_t memory_limit = options_.memory_bytes;
  auto reply = worker_->ask(
      message, {.seconds = seconds, .memory_bytes = memory_limit, .stop_fd = options_.stop_fd});
  if (reply) return outcome_from(*std::move(reply));
  switch (reply.error().reason) {
    case kNotSent:
      return failure("{}", reply.error().words);
    case kUnreadable:
      return lost(FailureKind::kKernelCrash, "its answer cannot be read: " + reply.error().words);
    case kGone:
      return lost(FailureKind::kKernelCrash, "");
    case kStopped:
      worker_->end(/*seconds=*/0);
      stop();
      return interrupted();
    case kLate:
      return lost(FailureKind::kKernelTimeout,
                  fmt::format("no answer after {}", format_duration(seconds)));
    case kTooMuchMemory:
      break;
  }
  return lost(FailureKind::kKernelCrash, more_memory_than(memory_limit));
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
