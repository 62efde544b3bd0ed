// The way to a runner, wherever it is: a process behind a pipe (RunnerProcess).
#pragma once

#include <cstdint>

#include "worker/message.h"

namespace hone::worker {

// For one thread.
class RunnerTransport {
 public:
  virtual ~RunnerTransport() = default;

  // Starts a runner if none lives. An environment error with its words when it does not come up.
  virtual Status start() = 0;

  // As start(), but of a runner that lives an answer is asked for first: one that was killed a
  // moment ago and has not ended yet (a GPU's context takes 0.1 s to go) is replaced now, so that
  // its end is not taken for that of the next call.
  virtual Status ensure_ready() = 0;

  // Sends `message` and waits at most `seconds` (0: no limit) for the answer. The runner's death is
  // kKernelCrash (kKernelKilled by a signal that is no fault of its own, such as SIGKILL) with the
  // signal's name and its last words, no answer in time kKernelTimeout; in all cases it is gone
  // with all it started, and the next call starts a new one. As Error: no runner can be started, or
  // the call was interrupted (the runner is then ended too).
  virtual Result<Outcome> call(const Message& message, double seconds) = 0;

  // How many runners were started. When it changes the former runner's state (loaded code, buffers)
  // is lost. 0 before the first.
  virtual std::uint64_t generation() const = 0;
};

}  // namespace hone::worker
