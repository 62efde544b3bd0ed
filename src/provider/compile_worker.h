// A provider's half in a worker process: who calls the compiler. The half that the tuner asks is a
// Provider (provider.h); what passes between the two are the jobs of jobs.h.
#pragma once

#include "provider/message.h"

namespace hone::provider {

// One is opened in the process that all workers of a session are forked from, and asked in their
// forks, each of which runs one job and may crash, hang or eat memory (worker/fork_server.h). An
// exception that leaves a function is a failure of the job (kCompileError) with its words.
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
