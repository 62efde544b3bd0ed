// The one place that decides what is retried and how often.
#pragma once

#include <tl/expected.hpp>

#include "base/result.h"
#include "provider/artifact.h"

namespace hone::provider {

enum class Attempt {
  kJob,      // of a compile worker, where it runs
  kLostJob,  // of one that died with its process
  kProgram,  // a compiler's answer about a program, without which nothing goes on
  kKernel,   // a candidate's code on a runner: loaded, verified, measured
  kProblem,  // a runner's problem, which everything of a dispatch depends on
  kDevice,   // a question about a runner's device
  kCall,     // of a whole program, by the runtime's tools
};

// Whether an attempt is retried after the last of `tries` failed with `failure`. A candidate's own
// failure is final; one that may be transient is not.
bool is_tried_again(Attempt attempt, FailureKind failure, int tries);

// Makes the further tries of a caller that waits for each: calls `again` as long as
// is_tried_again() allows, and returns the last outcome. `outcome`: that of the first try. An Error
// ends the tries.
template <class T, class Call>
Result<tl::expected<T, Failure>> retried(Attempt attempt, Result<tl::expected<T, Failure>> outcome,
                                         const Call& again) {
  for (int tries = 1; outcome && !*outcome && is_tried_again(attempt, outcome->error().kind, tries);
       ++tries)
    outcome = again();
  return outcome;
}

}  // namespace hone::provider
