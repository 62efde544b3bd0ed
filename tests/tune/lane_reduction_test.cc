#include <gtest/gtest.h>

#include "tune/flag_baseline.h"

namespace hone::tune {
namespace {

using problem::ElementType;
using problem::OperationKind;

// Of a 64x64 array over loops 0 and 1, of which `reduced` is summed up.
bool adds(OperationKind kind, ElementType out, int reduced = 1,
          const char* name = "linalg.generic") {
  problem::Dispatch dispatch;
  dispatch.root.kind = kind;
  dispatch.root.name = name;
  for (const int loop : {0, 1})
    dispatch.root.loops.push_back({.reduction = loop == reduced, .size = 64});
  dispatch.root.operands.push_back({.type = {ElementType::kI8, {64}}, .loops = {reduced}});
  dispatch.root.operands.push_back({.type = {ElementType::kI8, {64, 64}}, .loops = {0, 1}});
  dispatch.root.operands.push_back({.type = {out, {64}}, .loops = {1 - reduced}, .output = true});
  return reduces_along_lanes(dispatch);
}

TEST(Sums, RunAlongVectorsInRowsAttentionAndProductsWithAVector) {
  EXPECT_TRUE(adds(OperationKind::kReduction, ElementType::kF32));
  EXPECT_TRUE(adds(OperationKind::kMatvec, ElementType::kF32));
  EXPECT_TRUE(adds(OperationKind::kAttention, ElementType::kF16));
  EXPECT_TRUE(adds(OperationKind::kOther, ElementType::kF32, 1, "linalg.softmax"));
}

TEST(Sums, LieBesideEachOtherInColumnsAndProductsOfMatrices) {
  EXPECT_FALSE(adds(OperationKind::kReduction, ElementType::kF32, 0));
  EXPECT_FALSE(adds(OperationKind::kMatvec, ElementType::kF32, 0));
  EXPECT_FALSE(adds(OperationKind::kMatmul, ElementType::kF32));
  EXPECT_FALSE(adds(OperationKind::kConvolution, ElementType::kF32));
  EXPECT_FALSE(adds(OperationKind::kElementwise, ElementType::kF32));
}

TEST(Sums, OfIntegersMayBeReorderedAnyway) {
  EXPECT_FALSE(adds(OperationKind::kReduction, ElementType::kI32));
}

}  // namespace
}  // namespace hone::tune
