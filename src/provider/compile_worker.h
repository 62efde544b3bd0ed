// A provider's half in a worker process, which calls the compiler. The half in the tuner is a
// Provider (provider.h). The two exchange the jobs of jobs.h.
#pragma once

#include "provider/message.h"

namespace hone::provider {

// Calls the compiler. The process that all workers of a session are forked from opens one
// CompileWorker. Its forks use it: each runs one job and may crash, hang or eat memory
// (worker/fork_server.h). An exception that leaves a function fails the job (kCompileError) with
// its words.
class CompileWorker {
 public:
  virtual ~CompileWorker() = default;
  // A job that stands alone: jobs::kLoadProgram, ...
  virtual Outcome once(const Message& job) = 0;
  // Leaves in memory what the candidates of one dispatch share; run() is called in forks of the
  // process that has done this.
  virtual Outcome prepare(const Message& job) = 0;
  // Compiles one candidate of the prepared dispatch.
  virtual Outcome run(const Message& job) = 0;
};

}  // namespace hone::provider
