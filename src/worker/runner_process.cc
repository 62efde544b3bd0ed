#include "worker/runner_process.h"

#include <chrono>
#include <optional>

#include "base/process_tree.h"
#include "base/text.h"
#include "worker/worker_process.h"

namespace hone::worker {
namespace {

using provider::Failure;
using provider::FailureKind;

// Looking more often would disturb what the runner measures.
constexpr double kMemoryLookSeconds = 0.25;

constexpr double kPingSeconds = 10;

}  // namespace

struct RunnerProcess::State {
  RunnerOptions options;
  std::optional<WorkerProcess> session;
  std::uint64_t generation = 0;

  // How the runner died; it is then gone with all it started.
  Failure end(FailureKind kind, std::string why) {
    session->end(/*seconds=*/0);
    const std::string words = session->last_words();
    // A runner that was killed for `why` ended with SIGKILL, which says nothing.
    if (why.empty()) {
      why = words;
      kind = provider::died_of(session->process().exit_signal(), kind, FailureKind::kKernelKilled);
      if (session->process().exit_code() >= 0) why = "no answer, " + why;
    } else if (const auto line = words.find('\n'); line != std::string::npos) {
      why += words.substr(line);
    }
    session.reset();
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
  if (state_->session && !state_->session->is_gone()) return {};
  stop();
  const RunnerOptions& options = state_->options;
  auto session =
      WorkerProcess::start({"runner", options.command, options.environment, options.temporary,
                            options.start_seconds, options.output_bytes, options.stop_fd});
  if (!session) return tl::unexpected(std::move(session).error());
  state_->session.emplace(std::move(*session));
  ++state_->generation;
  return {};
}

Status RunnerProcess::start_answering() {
  if (state_->session && !state_->session->is_gone()) {
    const auto answer = call({std::string(kPing), nullptr, {}}, kPingSeconds);
    if (!answer && answer.error().kind == ErrorKind::kInterrupted)
      return tl::unexpected(answer.error());
    if (!answer) stop();  // it closed its socket this moment
  }
  return start();
}

Result<Outcome> RunnerProcess::call(const Message& message, double seconds) {
  HONE_TRY(start());
  WorkerProcess& session = *state_->session;
  session.forget_words();
  HONE_TRY(session.connection().send(message));
  const std::uint64_t memory_limit = state_->options.memory_bytes;
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const bool gone = session.is_gone();  // before reading: what it said last is then there
    auto reply = session.connection().next();
    if (!reply)
      return Outcome(tl::unexpected(state_->end(
          FailureKind::kKernelCrash, "its answer cannot be read: " + reply.error().message)));
    if (*reply) return outcome_from(std::move(**reply));
    if (gone) return Outcome(tl::unexpected(state_->end(FailureKind::kKernelCrash, "")));
    if (is_readable(state_->options.stop_fd)) {
      session.end(/*seconds=*/0);
      stop();
      return interrupted();
    }
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    if (seconds > 0 && waited.count() >= seconds)
      return Outcome(
          tl::unexpected(state_->end(FailureKind::kKernelTimeout,
                                     fmt::format("no answer after {}", format_duration(seconds)))));
    if (memory_limit > 0 && resident_bytes(session.process().pid()) > memory_limit)
      return Outcome(tl::unexpected(state_->end(
          FailureKind::kKernelCrash, fmt::format("more than {:.2f} GiB of memory",
                                                 static_cast<double>(memory_limit) / (1 << 30)))));
    double patience = seconds > 0 ? seconds - waited.count() : -1;
    if (memory_limit > 0 && (patience < 0 || patience > kMemoryLookSeconds))
      patience = kMemoryLookSeconds;
    session.wait(patience, state_->options.stop_fd);
  }
}

std::uint64_t RunnerProcess::generation() const {
  return state_->generation;
}

pid_t RunnerProcess::pid() const {
  return state_->session ? state_->session->process().pid() : -1;
}

void RunnerProcess::stop() {
  state_->session.reset();
}

}  // namespace hone::worker
