#include "provider/retry.h"

namespace hone::provider {

bool is_tried_again(Attempt attempt, FailureKind failure, int tries) {
  constexpr int kTwice = 2, kThrice = 3;
  switch (attempt) {
    case Attempt::kJob:  // killed from outside, or a busy machine let it pass its time limit
      return tries < kTwice && (is_accident(failure) || failure == FailureKind::kCompileTimeout);
    case Attempt::kLostJob:
      return tries < kTwice;
    case Attempt::kProgram:  // some crashes are of one moment
      return tries < kTwice && failure == FailureKind::kCompileCrash;
    case Attempt::kKernel:
    case Attempt::kDevice:
      return tries < kTwice && is_accident(failure);
    case Attempt::kProblem:
      // No candidate runs meanwhile, so the system was probably out of memory.
      return tries < kThrice && (is_accident(failure) || failure == FailureKind::kKernelCrash);
    case Attempt::kCall:
      // Seen: one call of a program that takes 10 ms hung for 10 s; 140 others of its module did
      // not.
      return tries < kTwice && failure == FailureKind::kKernelTimeout;
  }
  return false;
}

}  // namespace hone::provider
