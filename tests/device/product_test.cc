// Which dispatches are one product of a library, and how.
#include <gmock/gmock.h>

#include "device/library.h"
#include "tests/device/matmul.h"

namespace hone::device {
namespace {

using problem::ElementType;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(DispatchProductTest, ABareMatmulIsOneOverItsBindings) {
  problem::Dispatch dispatch = test::matmul(2, 3, 4);
  const auto product = dispatch_product(dispatch);
  ASSERT_TRUE(product) << product.error().message;
  EXPECT_EQ(*product, (Product{.m = 2, .n = 3, .k = 4}));
}

TEST(DispatchProductTest, ATransposedBIsStoredNByK) {
  problem::Dispatch dispatch = test::matmul(2, 3, 4);
  dispatch.root.operands[1].type.shape = dispatch.bindings[1].type.shape = {3, 4};
  dispatch.root.operands[1].loops = {1, 2};
  EXPECT_EQ(dispatch_product(dispatch).value(),
            (Product{.m = 2, .n = 3, .k = 4, .transpose_b = true}));
}

TEST(DispatchProductTest, AnOutputStoredNByMSwapsTheOperands) {
  problem::Dispatch dispatch = test::matmul(2, 3, 4);
  dispatch.root.operands[2].type.shape = dispatch.bindings[2].type.shape = {3, 2};
  dispatch.root.operands[2].loops = {1, 0};
  const auto product = dispatch_product(dispatch);
  ASSERT_TRUE(product) << product.error().message;
  EXPECT_EQ(product->m, 3);
  EXPECT_EQ(product->n, 2);
  EXPECT_THAT(product->bindings, ElementsAre(1, 0, 2));
  EXPECT_TRUE(product->transpose_a && product->transpose_b);
}

TEST(DispatchProductTest, WithoutAFillItAddsToTheOutput) {
  problem::Dispatch dispatch = test::matmul(2, 3, 4);
  dispatch.fused = {};
  dispatch.bindings[2].access = problem::Access::kReadWrite;
  EXPECT_TRUE(dispatch_product(dispatch).value().accumulate);
}

TEST(DispatchProductTest, ANarrowedResultIsTheLibrarysOutputType) {
  problem::Dispatch dispatch = test::matmul(2, 3, 4);
  for (const std::size_t i : {0u, 1u})
    dispatch.root.operands[i].type.element = dispatch.bindings[i].type.element = ElementType::kF16;
  dispatch.fused = {"fill", "elementwise(arith.truncf)"};
  dispatch.bindings[2].type.element = ElementType::kF16;
  dispatch.root_bindings = {1, 0, -1};
  std::swap(dispatch.bindings[0], dispatch.bindings[1]);
  const auto product = dispatch_product(dispatch);
  ASSERT_TRUE(product) << product.error().message;
  EXPECT_EQ(product->output, ElementType::kF16);
  EXPECT_THAT(product->bindings, ElementsAre(1, 0, 2));
}

TEST(DispatchProductTest, WhatElseIsFusedIsNamed) {
  problem::Dispatch dispatch = test::matmul(2, 3, 4);
  dispatch.name = "gelu";
  dispatch.fused = {"fill", "elementwise(arith.addf, math.erf)"};
  const auto product = dispatch_product(dispatch);
  ASSERT_FALSE(product);
  EXPECT_EQ(product.error().kind, ErrorKind::kInput);
  EXPECT_EQ(product.error().message,
            "a library computes the product alone; 'gelu' is fused with fill, "
            "elementwise(arith.addf, math.erf)");
}

TEST(DispatchProductTest, ASumThatDoesNotStartFromZeroIsNoLibrarys) {
  problem::Dispatch dispatch = test::matmul(2, 3, 4);
  dispatch.fused = {"fill"};
  dispatch.fill_value = 1;
  EXPECT_THAT(dispatch_product(dispatch).error().message, HasSubstr("starts from zero"));
}

}  // namespace
}  // namespace hone::device
