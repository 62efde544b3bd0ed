// The runner: the long-lived child in which candidates are loaded, verified and measured; and the
// transport to a runner, wherever it is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/message.h"
#include "worker/worker_process.h"

namespace hone::worker {

// Connection to a runner. For one thread.
class RunnerTransport {
 public:
  virtual ~RunnerTransport() = default;

  // Starts a runner if none lives. Returns an environment error with its words if it fails to
  // start.
  virtual Status start() = 0;

  // Does the same as start(), but asks a living runner for an answer first. A runner that was just
  // killed and has not ended yet is replaced now (a GPU's context takes 0.1 s to go). Its end is
  // then not mistaken for that of the next call.
  virtual Status ensure_ready() = 0;

  // Sends `message` and waits at most `seconds` (0: no limit) for the answer. The runner's death is
  // kKernelCrash, with the signal's name and its last words. It is kKernelKilled for a signal that
  // is no fault of its own, such as SIGKILL. No answer in time is kKernelTimeout. In all cases the
  // runner is gone with all it started, and the next call starts a new one. An Error if no runner
  // can be started, or the call was interrupted (the runner is then ended too).
  virtual Result<Outcome> call(const Message& message, double seconds) = 0;

  // Makes calls one after the other, up to the first that fails; each may take `seconds`. Returns
  // the outcomes, of which the last one may be a failure.
  virtual Result<std::vector<Outcome>> call_all(const std::vector<Message>& messages,
                                                double seconds);

  // Makes a call whose answer tells nothing. Errors are call()'s.
  virtual Status post(const Message& message, double seconds) {
    return call(message, seconds).map([](const Outcome&) {});
  }

  // Whether an answer takes a turn of a line, which call_all() saves.
  virtual bool is_far() const { return false; }

  // Number of runners started so far; 0 before the first. When it changes, the former runner's
  // state (loaded code, buffers) is lost.
  virtual std::uint64_t generation() const = 0;
};

// Kind of a message that serve_runner answers itself, with an empty message.
inline constexpr std::string_view kPing = "ping";

// Options of a runner. The command starts a process that calls serve_runner().
struct RunnerOptions : WorkerOptions {
  std::uint64_t memory_bytes = 0;  // resident, watched while a call waits; 0: none
};

// Handle of the runner. For one thread. The runner outlives a call, so that buffers and libraries
// stay loaded. A crash, a hang or a poisoned device costs one call.
class RunnerProcess final : public RunnerTransport {
 public:
  // Starts no process: the first call does.
  explicit RunnerProcess(RunnerOptions options) : options_(std::move(options)) {}
  // The destructor ends the runner with all that it started, and removes its folder.

  Status start() override;
  Status ensure_ready() override;
  Result<Outcome> call(const Message& message, double seconds) override;
  std::uint64_t generation() const override { return generation_; }

  bool lives() { return worker_ && !worker_->is_gone(); }
  pid_t pid() { return worker_ ? worker_->process().pid() : -1; }  // -1 when none lives
  void stop() { worker_.reset(); }  // ends the runner; the next call starts a new one

 private:
  // Ends the runner with all that it started, and returns the failure of the call that it did not
  // survive.
  Outcome lost(provider::FailureKind kind, std::string why);

  RunnerOptions options_;
  std::optional<WorkerProcess> worker_;
  std::uint64_t generation_ = 0;
};

using RunnerHandler = std::function<Outcome(Message)>;

// Serves as runner on the stream socket `socket`, which it takes over. Answers each message with
// `handler` until the tuner closes the socket; returns the exit code. Requires a process with one
// thread, since it forks a janitor first (docs/worker-protocol.md). The janitor ends the process
// and its group when the tuner is gone and the handler does not return. An exception that leaves
// the handler is a failure (kKernelCrash). After a failed call, `is_lost` tells whether this
// process can do no more (a kernel has ended the GPU's context). It then leaves without an answer,
// as a crash does, with the failure's words on stderr.
int serve_runner(int socket, const RunnerHandler& handler,
                 const std::function<bool()>& is_lost = {});

}  // namespace hone::worker
