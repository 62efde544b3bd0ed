// The compile process tree below the tuner:
//
//   tuner -> zygote -> prepared server, one per dispatch -> child, one per candidate
//                   -> child, one per once-job
//
// The zygote and the prepared servers have one thread and do nothing but poll: what the handlers do
// happens in processes that may crash, hang or eat memory. Each parent enforces the limits of its
// children, reports how they ended, kills what they leave running and removes their folder.
// Knows nothing of compilers. Protocol and guarantees: docs/worker-protocol.md.
#pragma once

#include <cstdint>
#include <functional>

#include "base/json_fields.h"
#include "worker/message.h"

namespace hone::worker {

struct JobLimits {
  double seconds = 60;                                  // wall time; 0: none
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // resident, the job and all it started
  std::size_t output_bytes = std::size_t{64} << 10;     // kept of its stdout and stderr

  static void fields(auto& limits, auto&& field) {
    field("seconds", limits.seconds);
    field("memory_bytes", limits.memory_bytes);
    field("output_bytes", limits.output_bytes);
  }
};

// Handlers of the processes' jobs. Each handler runs alone in a freshly forked process. TMPDIR is
// the process's own folder, stdin is /dev/null, and stdout and stderr are captured for failures. An
// exception that leaves a handler is a failure (kCompileError) with its words.
struct CompileHandlers {
  // Runs in the prepared server, and leaves in memory what run() needs. Its answer goes to the
  // tuner.
  std::function<Outcome(Message)> prepare;
  // Runs in a child of the prepared server, which sees prepare()'s memory.
  std::function<Outcome(Message)> run;
  // Runs in a child of the zygote.
  std::function<Outcome(Message)> once;
};

// Names the folder of a worker session, which holds all its temporary files; set by the tuner for
// the workers it starts. It also marks their descendants (see processes_started_with).
inline constexpr const char* kFolderVariable = "HONE_WORKER_FOLDER";

// Serves as zygote on the stream socket `socket`, which it takes over, until the tuner closes it or
// dies. Then it ends every process below, removes the session's folder and returns the exit code.
// Requires a process with one thread and no children. It starts a janitor
// (docs/worker-protocol.md), becomes a subreaper, and kills children it does not know.
int serve_zygote(int socket, const CompileHandlers& handlers);

}  // namespace hone::worker
