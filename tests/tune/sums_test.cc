#include "tune/sums.h"

#include <gtest/gtest.h>

namespace hone::tune {
namespace {

using problem::ElementType;
using problem::OperationKind;

bool adds(OperationKind kind, ElementType out, const char* name = "linalg.generic") {
  problem::Dispatch dispatch;
  dispatch.root.kind = kind;
  dispatch.root.name = name;
  dispatch.root.operands.push_back(
      {.type = {ElementType::kI8, {64}}, .loops = {0}, .output = false});
  dispatch.root.operands.push_back({.type = {out, {64}}, .loops = {0}, .output = true});
  return adds_along_vectors(dispatch);
}

TEST(Sums, RunAlongVectorsInRowsAttentionAndProductsWithAVector) {
  EXPECT_TRUE(adds(OperationKind::kReduction, ElementType::kF32));
  EXPECT_TRUE(adds(OperationKind::kAttention, ElementType::kF16));
  EXPECT_TRUE(adds(OperationKind::kMatvec, ElementType::kF32));
  EXPECT_TRUE(adds(OperationKind::kOther, ElementType::kF32, "linalg.softmax"));
}

TEST(Sums, LieBesideEachOtherInAProductOfMatrices) {
  EXPECT_FALSE(adds(OperationKind::kMatmul, ElementType::kF32));
  EXPECT_FALSE(adds(OperationKind::kConvolution, ElementType::kF32));
  EXPECT_FALSE(adds(OperationKind::kElementwise, ElementType::kF32));
}

TEST(Sums, OfIntegersMayBeReorderedAnyway) {
  EXPECT_FALSE(adds(OperationKind::kReduction, ElementType::kI32));
}

}  // namespace
}  // namespace hone::tune
