#include "provider/retry.h"

#include <gtest/gtest.h>

namespace hone::provider {
namespace {

TEST(Retry, OfAVerdictIsNone) {
  for (const Attempt attempt : {Attempt::kJob, Attempt::kProgram, Attempt::kKernel,
                                Attempt::kProblem, Attempt::kDevice, Attempt::kCall})
    for (const FailureKind failure :
         {FailureKind::kCompileError, FailureKind::kWrong, FailureKind::kLoadError})
      EXPECT_FALSE(is_tried_again(attempt, failure, 1)) << name_of(failure);
}

TEST(Retry, OfAnAccidentIsOneAndOfAProblemTwo) {
  EXPECT_TRUE(is_tried_again(Attempt::kJob, FailureKind::kCompileKilled, 1));
  EXPECT_TRUE(is_tried_again(Attempt::kJob, FailureKind::kCompileTimeout, 1));
  EXPECT_FALSE(is_tried_again(Attempt::kJob, FailureKind::kCompileKilled, 2));
  EXPECT_TRUE(is_tried_again(Attempt::kKernel, FailureKind::kKernelKilled, 1));
  EXPECT_FALSE(is_tried_again(Attempt::kKernel, FailureKind::kKernelKilled, 2));
  EXPECT_FALSE(is_tried_again(Attempt::kKernel, FailureKind::kKernelCrash, 1));
  EXPECT_TRUE(is_tried_again(Attempt::kProblem, FailureKind::kKernelCrash, 2));
  EXPECT_FALSE(is_tried_again(Attempt::kProblem, FailureKind::kKernelCrash, 3));
  EXPECT_TRUE(is_tried_again(Attempt::kLostJob, FailureKind::kCompileCrash, 1));
  EXPECT_FALSE(is_tried_again(Attempt::kLostJob, FailureKind::kCompileCrash, 2));
}

}  // namespace
}  // namespace hone::provider
