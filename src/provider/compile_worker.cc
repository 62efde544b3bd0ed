#include "provider/compile_worker.h"

namespace hone::provider {

Outcome answer(CompileWorker& worker, Message job) {
  static const ServedJob<CompileWorker> kCandidates[] = {
      {jobs::kPrepare, &CompileWorker::prepare},
      {jobs::kCompile,
       [](CompileWorker& does, const jobs::CompileRequest& request) {
         return does.compile(request.payload);
       }},
  };
  if (std::ranges::count(kCandidates, job.kind, &ServedJob<CompileWorker>::kind) == 0)
    return worker.once(std::move(job));
  return answer_by<CompileWorker>(kCandidates, worker, std::move(job), FailureKind::kCompileError);
}

}  // namespace hone::provider
