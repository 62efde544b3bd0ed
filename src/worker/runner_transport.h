// Transport to a runner, wherever it is: a process behind a pipe (RunnerProcess).
#pragma once

#include <cstdint>

#include "worker/message.h"

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

  // Number of runners started so far; 0 before the first. When it changes, the former runner's
  // state (loaded code, buffers) is lost.
  virtual std::uint64_t generation() const = 0;
};

}  // namespace hone::worker
