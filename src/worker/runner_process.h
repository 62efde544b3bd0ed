// The runner: the long-lived child in which candidates are loaded, verified and measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "worker/runner_transport.h"

namespace hone::worker {

// The kind of a message that serve_runner answers itself, with nothing.
inline constexpr std::string_view kPing = "ping";

struct RunnerOptions {
  // Starts a process that calls serve_runner(ChildProcess::kChildSocket, ...).
  std::vector<std::string> command;
  std::vector<EnvironmentChange> environment;
  std::uint64_t memory_bytes = 0;  // resident, watched while a call waits; 0: none
  double start_seconds = 60;       // for the runner to say hello
  std::size_t output_bytes = std::size_t{64} << 10;  // kept of its stdout and stderr per call
  std::filesystem::path temporary;  // where its TMPDIR is made; empty: the system's
  int stop_fd = -1;                 // once it is readable a waiting call returns kInterrupted
};

// For one thread. The runner outlives a call, so that buffers and libraries stay loaded; a crash, a
// hang or a poisoned device costs one call.
class RunnerProcess final : public RunnerTransport {
 public:
  // Starts no process yet: the first call does.
  explicit RunnerProcess(RunnerOptions options);
  RunnerProcess(RunnerProcess&&) noexcept;
  RunnerProcess& operator=(RunnerProcess&&) noexcept;
  ~RunnerProcess() override;  // ends the runner and what it started, removes its folder

  Status start() override;
  Status ensure_ready() override;
  Result<Outcome> call(const Message& message, double seconds) override;
  std::uint64_t generation() const override;

  pid_t pid() const;  // -1 when none lives
  void stop();        // ends the runner; the next call starts a new one

 private:
  struct State;
  std::unique_ptr<State> state_;
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
