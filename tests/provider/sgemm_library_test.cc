// How contractions map to sgemm.
#include <gmock/gmock.h>

#include "provider/library/host_libraries.h"
#include "tests/device/matmul.h"

namespace hone::library {
namespace {

using test::matmul;
using testing::HasSubstr;

TEST(SgemmPlanTest, FollowsTheLayoutsOfTheOperands) {
  const Result<SgemmPlan> plain = plan_sgemm(matmul(2, 3, 4).root);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->shape.m, 2);
  EXPECT_EQ(plain->shape.n, 3);
  EXPECT_EQ(plain->shape.k, 4);
  EXPECT_FALSE(plain->shape.transpose_a || plain->shape.transpose_b || plain->swapped);

  problem::Operation transposed = matmul(2, 3, 4).root;
  transposed.operands[0].loops = {2, 0};
  transposed.operands[2].loops = {1, 0};  // output n x m: C' = B' A'
  const Result<SgemmPlan> swapped = plan_sgemm(transposed);
  ASSERT_TRUE(swapped);
  EXPECT_TRUE(swapped->swapped);
  EXPECT_EQ(swapped->shape.m, 3);
  EXPECT_EQ(swapped->shape.n, 2);
  EXPECT_TRUE(swapped->shape.transpose_a);   // B lies as k x n, n x k is wanted
  EXPECT_FALSE(swapped->shape.transpose_b);  // A lies as k x m, as wanted

  problem::Operation integers = matmul(2, 3, 4).root;
  integers.operands[0].type.element = problem::ElementType::kI8;
  EXPECT_THAT(plan_sgemm(integers).error().message, HasSubstr("i8"));
}

}  // namespace
}  // namespace hone::library
