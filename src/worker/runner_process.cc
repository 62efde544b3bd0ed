#include "worker/runner_process.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "base/process_tree.h"
#include "base/text.h"
#include "worker/janitor.h"
#include "worker/job_process.h"
#include "worker/worker_process.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;

// Looking more often would disturb what the runner measures.
constexpr double kMemoryLookSeconds = 0.25;

constexpr double kPingSeconds = 10;

// In the runner: false when it is to leave.
bool answer_all(int socket, const RunnerHandler& handler, const std::function<bool()>& is_lost) {
  FrameDecoder decoder;
  while (true) {
    const auto message = read_message(socket, decoder);
    if (!message) {
      std::fprintf(stderr, "%s\n", message.error().message.c_str());
      return false;
    }
    if (!*message) return true;
    if ((*message)->kind == kPing) {
      answer(socket, Outcome(Message{std::string(kPing), {}, {}}));
      continue;
    }
    const Outcome outcome = guarded(handler, **message, provider::FailureKind::kKernelCrash);
    if (!outcome && is_lost && is_lost()) {
      std::fprintf(stderr, "%s\n", outcome.error().message.c_str());
      return false;
    }
    answer(socket, outcome);
  }
}

}  // namespace

struct RunnerProcess::State {
  RunnerOptions options;
  std::optional<WorkerProcess> worker;
  std::uint64_t generation = 0;

  // How the runner died; it is then gone with all it started.
  Failure end(FailureKind kind, std::string why) {
    worker->end(/*seconds=*/0);
    const std::string words = worker->last_words();
    // A runner that was killed for `why` ended with SIGKILL, which says nothing.
    if (why.empty()) {
      why = words;
      kind = provider::died_of(worker->process().exit_signal(), kind, FailureKind::kKernelKilled);
      if (worker->process().exit_code() >= 0) why = "no answer, " + why;
    } else if (const auto line = words.find('\n'); line != std::string::npos) {
      why += words.substr(line);
    }
    worker.reset();
    return {kind, why};
  }
};

RunnerProcess::RunnerProcess(RunnerOptions options) : state_(new State) {
  state_->options = std::move(options);
}
RunnerProcess::RunnerProcess(RunnerProcess&&) noexcept = default;
RunnerProcess& RunnerProcess::operator=(RunnerProcess&&) noexcept = default;
RunnerProcess::~RunnerProcess() = default;

Status RunnerProcess::start() {
  if (state_->worker && !state_->worker->is_gone()) return {};
  stop();
  const RunnerOptions& options = state_->options;
  auto worker =
      WorkerProcess::start({"runner", options.command, options.environment, options.temporary,
                            options.start_seconds, options.output_bytes, options.stop_fd});
  if (!worker) return tl::unexpected(std::move(worker).error());
  state_->worker.emplace(std::move(*worker));
  ++state_->generation;
  return {};
}

Status RunnerProcess::ensure_ready() {
  if (state_->worker && !state_->worker->is_gone()) {
    const auto answer = call({std::string(kPing), nullptr, {}}, kPingSeconds);
    if (!answer && answer.error().kind == ErrorKind::kInterrupted)
      return tl::unexpected(answer.error());
    if (!answer) stop();  // it closed its socket this moment
  }
  return start();
}

Result<Outcome> RunnerProcess::call(const Message& message, double seconds) {
  HONE_TRY(start());
  WorkerProcess& worker = *state_->worker;
  worker.forget_words();
  HONE_TRY(worker.connection().send(message));
  const std::uint64_t memory_limit = state_->options.memory_bytes;
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const bool gone = worker.is_gone();  // before reading: what it said last is then there
    auto reply = worker.connection().next();
    if (!reply)
      return Outcome(tl::unexpected(state_->end(
          FailureKind::kKernelCrash, "its answer cannot be read: " + reply.error().message)));
    if (*reply) return outcome_from(std::move(**reply));
    if (gone) return Outcome(tl::unexpected(state_->end(FailureKind::kKernelCrash, "")));
    if (is_readable(state_->options.stop_fd)) {
      worker.end(/*seconds=*/0);
      stop();
      return interrupted();
    }
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    if (seconds > 0 && waited.count() >= seconds)
      return Outcome(
          tl::unexpected(state_->end(FailureKind::kKernelTimeout,
                                     fmt::format("no answer after {}", format_duration(seconds)))));
    if (memory_limit > 0 && resident_bytes(worker.process().pid()) > memory_limit)
      return Outcome(tl::unexpected(state_->end(
          FailureKind::kKernelCrash, fmt::format("more than {:.2f} GiB of memory",
                                                 static_cast<double>(memory_limit) / (1 << 30)))));
    double patience = seconds > 0 ? seconds - waited.count() : -1;
    if (memory_limit > 0 && (patience < 0 || patience > kMemoryLookSeconds))
      patience = kMemoryLookSeconds;
    worker.wait(patience, state_->options.stop_fd);
  }
}

std::uint64_t RunnerProcess::generation() const {
  return state_->generation;
}

pid_t RunnerProcess::pid() const {
  return state_->worker ? state_->worker->process().pid() : -1;
}

void RunnerProcess::stop() {
  state_->worker.reset();
}

int serve_runner(int socket, const RunnerHandler& handler, const std::function<bool()>& is_lost) {
  const auto folder = SessionFolder::claim();
  if (!folder) {
    std::fprintf(stderr, "%s\n", folder.error().message.c_str());
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);  // of words that no tuner reads any more
  const UniqueFd tuner(socket);
  const Status watched = start_janitor(tuner.get(), *folder);
  if (!watched) {
    std::fprintf(stderr, "%s\n", watched.error().message.c_str());
    return 3;
  }
  const bool understood = write_message(tuner.get(), {"hello", {{"pid", ::getpid()}}, {}}) &&
                          answer_all(tuner.get(), handler, is_lost);
  return understood ? 0 : 1;
}

}  // namespace hone::worker
