#include <gmock/gmock.h>

#include "provider/iree/program/derived_modules.h"
#include "provider/iree/whole_program.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string root_of(const problem::Dispatch& dispatch) {
  const auto text = extract_root(compiler(), dispatch.name, dispatch.source, avx512_flags());
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

// The same operation by itself: kind, loops, element types, layouts.
void expect_same_root(const problem::Dispatch& dispatch) {
  const std::string text = root_of(dispatch);
  EXPECT_TRUE(compile_program(compiler(), "root.mlir", text, avx512_flags())) << text;
  const problem::Program alone = load("root.mlir", text);
  ASSERT_EQ(alone.dispatches.size(), 1u) << text;
  const problem::Dispatch& root = alone.dispatches[0];
  EXPECT_EQ(root.root, dispatch.root) << text;
  EXPECT_EQ(problem::fingerprint(root.root), problem::fingerprint(dispatch.root));
  EXPECT_EQ(root.not_tunable, dispatch.not_tunable);
  EXPECT_EQ(root.fill_value, dispatch.fill_value);
}

class EveryExample : public testing::TestWithParam<const char*> {};

TEST_P(EveryExample, GivesProgramsOfItsRootOperations) {
  const problem::Program program = load(GetParam(), example(GetParam()));
  for (const problem::Dispatch& dispatch : program.dispatches) expect_same_root(dispatch);
}

INSTANTIATE_TEST_SUITE_P(Examples, EveryExample,
                         testing::Values("feed_forward.mlir", "matmul_512.mlir", "matmul_f16.mlir",
                                         "matmul_row_sum.mlir"),
                         [](const auto& test) {
                           const std::string name = test.param;
                           return name.substr(0, name.find('.'));
                         });

TEST(ExtractRoot, LeavesTheFusedOperationsAndTheirInputsOut) {
  const problem::Program program = load("feed_forward.mlir", example("feed_forward.mlir"));
  const std::string text = root_of(program.dispatches.at(0));
  EXPECT_THAT(text, Not(HasSubstr("math.erf")));
  const problem::Program alone = load("root.mlir", text);
  EXPECT_EQ(alone.functions.at(0).inputs.size(), 2u);  // no bias
  EXPECT_THAT(alone.dispatches.at(0).fused, ElementsAre("fill"));
}

constexpr char kTransposedInt8[] = R"(
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%a: tensor<32x64xi8>, %b: tensor<48x64xi8>, %s: tensor<48xi32>) -> tensor<32x48xi32> {
  %seven = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<32x48xi32>
  %filled = linalg.fill ins(%seven : i32) outs(%empty : tensor<32x48xi32>) -> tensor<32x48xi32>
  %sums = linalg.matmul indexing_maps = [#a, #b, #c]
      ins(%a, %b : tensor<32x64xi8>, tensor<48x64xi8>) outs(%filled : tensor<32x48xi32>)
      -> tensor<32x48xi32>
  %scaled = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %s : tensor<32x48xi32>, tensor<48xi32>) outs(%empty : tensor<32x48xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %r = arith.muli %x, %y : i32
    linalg.yield %r : i32
  } -> tensor<32x48xi32>
  return %scaled : tensor<32x48xi32>
}
)";

TEST(ExtractRoot, KeepsTranspositionTypesAndTheFill) {
  const problem::Program program = load("int8.mlir", kTransposedInt8);
  ASSERT_EQ(program.dispatches.size(), 1u);
  EXPECT_EQ(program.dispatches[0].fill_value, 7);
  EXPECT_EQ(problem::describe(program.dispatches[0].root), "matmul 32x48x64 i8,i8->i32 tb");
  expect_same_root(program.dispatches[0]);
}

TEST(ExtractRoot, AnOutputThatIsAddedToIsAnArgument) {
  const problem::Program program = load("add.mlir", R"(
func.func @f(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
})");
  ASSERT_EQ(program.dispatches.size(), 1u);
  expect_same_root(program.dispatches[0]);
  EXPECT_EQ(load("root.mlir", root_of(program.dispatches[0])).functions.at(0).inputs.size(), 3u);
}

TEST(ExtractRoot, BringsTheConstantsOfTheBodyAlong) {
  const problem::Program program = load("scale.mlir", R"(
func.func @f(%a: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %third = arith.constant 0.33 : f32
  %empty = tensor.empty() : tensor<64x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a : tensor<64x48xf32>) outs(%empty : tensor<64x48xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.mulf %x, %third : f32
    linalg.yield %s : f32
  } -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
})");
  ASSERT_EQ(program.dispatches.size(), 1u);
  const std::string text = root_of(program.dispatches[0]);
  EXPECT_THAT(text, HasSubstr("3.300000e-01"));
  expect_same_root(program.dispatches[0]);
}

// Two operands, one argument: it is the same tensor.
TEST(ExtractRoot, AProductWithItselfTakesOneInput) {
  const problem::Program program = load("square.mlir", R"(
func.func @f(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%filled : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
})");
  ASSERT_EQ(program.dispatches.size(), 1u);
  EXPECT_THAT(program.dispatches[0].root_bindings, ElementsAre(0, 0, 1));
  EXPECT_EQ(load("root.mlir", root_of(program.dispatches[0])).functions.at(0).inputs.size(), 1u);
}

// What bindings hold is read from the IR, not guessed from shapes.
TEST(RootBindings, FollowTheOperands) {
  const problem::Program fused = load("feed_forward.mlir", example("feed_forward.mlir"));
  EXPECT_THAT(fused.dispatches.at(0).root_bindings, ElementsAre(0, 1, -1));  // gelu in between
  const problem::Program bare = load("matmul_512.mlir", example("matmul_512.mlir"));
  EXPECT_THAT(bare.dispatches.at(0).root_bindings, ElementsAre(0, 1, 2));
  EXPECT_EQ(bare.dispatches.at(0).fill_value, 0);
}

TEST(RootBindings, SeeOperandsInAnotherOrderThanTheBindings) {
  // A benchmark-like source whose kernel multiplies binding 1 by binding 0.
  problem::Dispatch dispatch = load("matmul_512.mlir", example("matmul_512.mlir")).dispatches.at(0);
  std::string source = dispatch.source;
  const auto swap = [&](const std::string& from, const std::string& to) {
    const auto at = source.find(from);
    ASSERT_NE(at, std::string::npos) << source;
    source.replace(at, from.size(), to);
  };
  swap("binding(0) alignment", "binding(9) alignment");
  swap("binding(1) alignment", "binding(0) alignment");
  swap("binding(9) alignment", "binding(1) alignment");
  const problem::Program swapped = load("swapped.mlir", source);
  ASSERT_EQ(swapped.dispatches.size(), 1u);
  EXPECT_THAT(swapped.dispatches[0].root_bindings, ElementsAre(1, 0, 2));
  EXPECT_THAT(swapped.dispatches[0].not_tunable, IsEmpty());
}

TEST(PlainProducts, AreThoseOfSignedValues) {
  const auto product = [](const std::string& extension) {
    return load("product.mlir", R"(
func.func @f(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>) -> tensor<32x48xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<32x48xi32>
  %filled = linalg.fill ins(%zero : i32) outs(%empty : tensor<32x48xi32>) -> tensor<32x48xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x64xi8>, tensor<64x48xi8>) outs(%filled : tensor<32x48xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %p = arith.)" + extension + R"( %x : i8 to i32
    %q = arith.extsi %y : i8 to i32
    %m = arith.muli %p, %q : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<32x48xi32>
  return %r : tensor<32x48xi32>
})")
        .dispatches.at(0);
  };
  EXPECT_TRUE(product("extsi").plain_products);
  EXPECT_FALSE(product("extui").plain_products);
}

}  // namespace
}  // namespace hone::iree
