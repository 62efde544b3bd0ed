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
#include "worker/message.h"

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
class RunnerProcess {
 public:
  // Starts no process yet: the first call does.
  explicit RunnerProcess(RunnerOptions options);
  RunnerProcess(RunnerProcess&&) noexcept;
  RunnerProcess& operator=(RunnerProcess&&) noexcept;
  ~RunnerProcess();  // ends the runner and what it started, removes its folder

  // Starts a runner if none lives. An environment error with its words when it does not come up.
  Status start();

  // As start(), but of a runner that lives an answer is asked for first: one that was killed a
  // moment ago and has not ended yet (a GPU's context takes 0.1 s to go) is replaced now, so that
  // its end is not taken for that of the next call.
  Status start_answering();

  // Sends `message` and waits at most `seconds` (0: no limit) for the answer. The runner's death is
  // kKernelCrash (kKernelKilled by a signal that is no fault of its own, such as SIGKILL) with the
  // signal's name and its last words, no answer in time kKernelTimeout; in all cases it is gone
  // with all it started, and the next call starts a new one. As Error: no runner can be started, or
  // the call was interrupted (the runner is then ended too).
  Result<Outcome> call(const Message& message, double seconds);

  // How many runners were started. When it changes the former runner's state (loaded code, buffers)
  // is lost. 0 before the first.
  std::uint64_t generation() const;

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
