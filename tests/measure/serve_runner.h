// A test program as its own runner process, as `hone worker run` is one.
#pragma once

#include "base/process.h"
#include "measure/runner_jobs.h"
#include "worker/runner_process.h"

namespace hone::test {

// Serves on the socket that a child process is given until the tuner leaves; the exit code.
inline int serve_runner(measure::Runner& runner) {
  return worker::serve_runner(
      ChildProcess::kChildSocket,
      [&runner](worker::Message message) { return measure::handle(runner, std::move(message)); },
      [&runner] { return runner.has_lost_its_device(); });
}

}  // namespace hone::test
