// The runner: the long-lived child in which candidates are loaded, verified and measured.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "worker/runner_transport.h"
#include "worker/worker_process.h"

namespace hone::worker {

// The kind of a message that serve_runner answers itself, with nothing.
inline constexpr std::string_view kPing = "ping";

// Its command starts a process that calls serve_runner().
struct RunnerOptions : WorkerOptions {
  std::uint64_t memory_bytes = 0;  // resident, watched while a call waits; 0: none
};

// For one thread. The runner outlives a call, so that buffers and libraries stay loaded; a crash, a
// hang or a poisoned device costs one call.
class RunnerProcess final : public RunnerTransport {
 public:
  // Starts no process yet: the first call does.
  explicit RunnerProcess(RunnerOptions options) : options_(std::move(options)) {}
  // With it the runner ends, and what it started; its folder is removed.

  Status start() override;
  Status ensure_ready() override;
  Result<Outcome> call(const Message& message, double seconds) override;
  std::uint64_t generation() const override { return generation_; }

  pid_t pid() { return worker_ ? worker_->process().pid() : -1; }  // -1 when none lives
  void stop() { worker_.reset(); }  // ends the runner; the next call starts a new one

 private:
  // How a call failed that the runner did not outlive; it is then gone with all it started.
  Outcome lost(provider::FailureKind kind, std::string why);

  RunnerOptions options_;
  std::optional<WorkerProcess> worker_;
  std::uint64_t generation_ = 0;
};

using RunnerHandler = std::function<Outcome(const Message&)>;

// Serves as runner on the stream socket `socket`, which it takes over: answers one message after
// the other with `handler` until the tuner closes the socket; returns the exit code. To be called
// by a process with one thread, for it forks a janitor first (docs/worker-protocol.md), which ends
// the process and its group when the tuner is gone and the handler does not return. An exception
// that leaves the handler is a failure (kKernelCrash). Once a call has failed and `is_lost` says
// that this process can do no more (a kernel has ended the GPU's context), it leaves without an
// answer, as a crash does, with the failure's words on stderr.
int serve_runner(int socket, const RunnerHandler& handler,
                 const std::function<bool()>& is_lost = {});

}  // namespace hone::worker
