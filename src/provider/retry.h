// What is tried again, and how often: decided here alone. Who waits for an answer asks, and makes
// the further tries itself.
#pragma once

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

// Whether it is tried again that failed so in the last of `tries`. A candidate's own failure is its
// last word; one that may be of a moment is not.
bool is_tried_again(Attempt attempt, FailureKind failure, int tries);

}  // namespace hone::provider
