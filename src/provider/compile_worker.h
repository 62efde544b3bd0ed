// A provider's half in a worker process, which calls the compiler. The half in the tuner is a
// Provider (provider.h). The two exchange the jobs of jobs.h.
#pragma once

#include <optional>

#include "provider/jobs.h"

namespace hone::provider {

// Calls the compiler. The process that all workers of a session are forked from opens one
// CompileWorker. Its forks use it: each runs one job and may crash, hang or eat memory
// (worker/fork_server.h). An exception that leaves a function fails the job (kCompileError) with
// its words.
class CompileWorker {
 public:
  virtual ~CompileWorker() = default;
  // Leaves in memory what the candidates of one dispatch share; compile() is called in forks of the
  // process that has done this.
  virtual Status prepare(jobs::PrepareRequest dispatch) = 0;
  // Compiles a candidate of the prepared dispatch; without a payload, the compiler's default.
  virtual tl::expected<jobs::Compiled, Failure> compile(const std::optional<Payload>& payload) = 0;
  // Does a job that stands alone (jobs::kRevision, jobs::kLoadProgram, ...) by a list of them
  // (answer_by).
  virtual Outcome once(Message job) = 0;
};

// Does any job of a compile worker.
Outcome answer(CompileWorker& worker, Message job);

}  // namespace hone::provider
