#include <gmock/gmock.h>

#include "provider/iree/program/program.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

problem::Program loaded(const std::string& text) {
  auto program = load_program(compiler(), "calls.mlir", text, avx512_flags());
  if (!program) throw std::runtime_error(program.error().message);
  return std::move(*program);
}

TEST(CallGraph, SaysWhichFunctionLaunchesADispatch) {
  const problem::Program program = loaded(R"(
func.func @one(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
func.func @two(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %b = linalg.matmul ins(%a, %a : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = linalg.matmul ins(%b, %a : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %c : tensor<32x32xf32>
})");
  // Of the second function's two products one has one operand twice.
  std::map<std::string, int> launches;
  for (const problem::Dispatch& dispatch : program.dispatches) {
    ASSERT_EQ(dispatch.launched_by.size(), 1u) << dispatch.name;
    launches[dispatch.launched_by.begin()->first] += dispatch.launched_by.begin()->second;
  }
  EXPECT_THAT(launches, ElementsAre(Pair("one", 1), Pair("two", 2)));
  EXPECT_FALSE(program.functions.at(0).keeps_state);
}

// A function that another one calls is a part of each.
TEST(CallGraph, FollowsCalls) {
  const problem::Program program = loaded(R"(
func.func private @shared(%a: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {noinline} {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
func.func @once(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %b = call @shared(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}
func.func @twice(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %b = call @shared(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = call @shared(%b) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
})");
  ASSERT_EQ(program.dispatches.size(), 1u);
  EXPECT_THAT(program.dispatches[0].launched_by,
              UnorderedElementsAre(Pair("once", 1), Pair("twice", 2)));
}

// Of a product that is always computed, one in a branch, and one in a function that a loop calls.
TEST(CallGraph, TellsWhatBranchesAndLoopsDecide) {
  const problem::Program program = loaded(R"(
func.func private @step(%a: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {noinline} {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
func.func @main(%a: tensor<64x64xf32>, %w: tensor<64x32xf32>, %v: tensor<64x16xf32>, %branch: i1) -> (tensor<64x64xf32>, tensor<64x32xf32>, tensor<64x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %always = linalg.matmul ins(%a, %w : tensor<64x64xf32>, tensor<64x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  %loop = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %a) -> tensor<64x64xf32> {
    %n = func.call @step(%s) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %some = scf.if %branch -> tensor<64x16xf32> {
    %ee = tensor.empty() : tensor<64x16xf32>
    %ff = linalg.fill ins(%z : f32) outs(%ee : tensor<64x16xf32>) -> tensor<64x16xf32>
    %p = linalg.matmul ins(%a, %v : tensor<64x64xf32>, tensor<64x16xf32>) outs(%ff : tensor<64x16xf32>) -> tensor<64x16xf32>
    scf.yield %p : tensor<64x16xf32>
  } else {
    scf.yield %v : tensor<64x16xf32>
  }
  return %loop, %always, %some : tensor<64x64xf32>, tensor<64x32xf32>, tensor<64x16xf32>
})");
  std::map<std::int64_t, bool> varies;  // by the columns of the product
  for (const problem::Dispatch& dispatch : program.dispatches)
    if (dispatch.root.name == "linalg.matmul")
      varies[dispatch.root.operands.back().type.shape.back()] = dispatch.launches_vary;
  EXPECT_THAT(varies, ElementsAre(Pair(16, true), Pair(32, false), Pair(64, true)));
}

TEST(CallGraph, SeesWhatACallLeavesForTheNextOne) {
  const problem::Program program = loaded(R"(
util.global private mutable @sum = dense<0.0> : tensor<64xf32>
func.func @add(%x: tensor<64xf32>) -> tensor<64xf32> {
  %old = util.global.load @sum : tensor<64xf32>
  %new = arith.addf %old, %x : tensor<64xf32>
  util.global.store %new, @sum : tensor<64xf32>
  return %new : tensor<64xf32>
}
func.func @peek(%x: tensor<64xf32>) -> tensor<64xf32> {
  %sum = util.global.load @sum : tensor<64xf32>
  %y = arith.mulf %sum, %x : tensor<64xf32>
  return %y : tensor<64xf32>
})");
  ASSERT_EQ(program.functions.size(), 2u);
  EXPECT_TRUE(program.functions[0].keeps_state);
  EXPECT_FALSE(program.functions[1].keeps_state);
}

}  // namespace
}  // namespace hone::iree
