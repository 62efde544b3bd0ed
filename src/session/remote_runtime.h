// Whole programs under the runtime of another machine.
#pragma once

#include <memory>

#include "provider/program_runtime.h"
#include "worker/remote_worker.h"

namespace hone::session {

// Returns a runtime that runs programs where `worker` is connected to. Files that calls name are
// sent there once. Its functions may be called by several threads, one at a time; timers that it
// gave need it no longer than they live. A call that loses its connection is repeated once.
std::shared_ptr<const provider::ProgramRuntime> remote_runtime(
    std::shared_ptr<worker::RemoteWorker> worker);

}  // namespace hone::session
