#include <gmock/gmock.h>

#include "provider/iree/compiler/program_constants.h"
#include "provider/iree/program/program_functions.h"

namespace hone::iree {
namespace {

using testing::HasSubstr;
using testing::Not;

// As JAX and TensorFlow write programs: the weights reach the product directly and through a
// transpose; the bias, of as many elements, does not.
constexpr std::string_view kStablehlo =
    R"(module @net attributes {mhlo.num_replicas = 1 : i32} {
  func.func @main(%x: tensor<8x128xf32>) -> tensor<8x32xf32> {
    %w = stablehlo.constant dense<1.000000e-01> : tensor<128x64xf32>
    %bias = stablehlo.constant dense<2.000000e-01> : tensor<8x64xf32>
    %table = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf32>
    %v = stablehlo.constant dense<3.000000e-01> : tensor<32x64xf32>
    %half = stablehlo.constant dense<2.000000e-01> : tensor<8x64xf16>
    %wide = stablehlo.convert %half : (tensor<8x64xf16>) -> tensor<8x64xf32>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x128xf32>, tensor<128x64xf32>) -> tensor<8x64xf32>
    %1 = stablehlo.add %0, %bias : tensor<8x64xf32>
    %t = stablehlo.transpose %v, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %2 = stablehlo.dot_general %1, %t, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    return %2 : tensor<8x32xf32>
  }
}
)";

TEST(OpaqueWeights, AreParametersInsideTheModule) {
  const OpaqueProgram made = with_opaque_weights(kStablehlo);
  EXPECT_EQ(made.weights, 2U);
  EXPECT_EQ(made.folded, 0U);
  EXPECT_THAT(made.text, HasSubstr("1 : i32} {\nutil.global private @hone_weight0 = "
                                   "#flow.parameter.named<\"hone\"::\"weight0\"> : "
                                   "tensor<128x64xf32>\n"));
  EXPECT_THAT(made.text,
              HasSubstr("    %w = util.global.load @hone_weight0 : tensor<128x64xf32>\n"));
  EXPECT_THAT(made.text,
              HasSubstr("    %v = util.global.load @hone_weight1 : tensor<32x64xf32>\n"));
  EXPECT_THAT(made.text, HasSubstr("%bias = stablehlo.constant dense<2.000000e-01>"));
  EXPECT_EQ(parameters_in(made.text).size(), 2U);
  // A second time there is nothing left to do.
  EXPECT_EQ(with_opaque_weights(made.text).weights, 0U);
}

// What a sum starts with is no weight, a scalar is none, and a bias is none either.
TEST(OpaqueWeights, AreOperandsOfProductsOnly) {
  constexpr std::string_view kLinalg =
      R"(func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %w = arith.constant dense<0.1> : tensor<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<8x64xf32>
  %eps = arith.constant dense<1.0e-05> : tensor<8x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x64xf32>) outs(%init : tensor<8x64xf32>) -> tensor<8x64xf32>
  %z = arith.addf %y, %eps : tensor<8x64xf32>
  return %z : tensor<8x64xf32>
}
)";
  const OpaqueProgram made = with_opaque_weights(kLinalg);
  EXPECT_EQ(made.weights, 1U);
  EXPECT_TRUE(made.text.starts_with("util.global private @hone_weight0"));
  EXPECT_THAT(made.text, HasSubstr("%init = arith.constant dense<0.0>"));
  EXPECT_THAT(made.text, HasSubstr("%eps = arith.constant dense<1.0e-05>"));
}

TEST(OpaqueWeights, KeepTheTypeOfPyTorch) {
  const OpaqueProgram made = with_opaque_weights(
      R"(  %w = torch.vtensor.literal(dense<1.0> : tensor<8x16xf32>) : !torch.vtensor<[8,16],f32>
  %y = torch.aten.mm %x, %w : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,16],f32> -> !torch.vtensor<[4,16],f32>
)");
  EXPECT_EQ(made.weights, 1U);
  EXPECT_THAT(made.text,
              HasSubstr("%w = torch_c.from_builtin_tensor %hone_weight0 : tensor<8x16xf32>"
                        " -> !torch.vtensor<[8,16],f32>"));
}

TEST(OpaqueWeights, OfIntegersAreNamedAsFolded) {
  const OpaqueProgram made = with_opaque_weights(
      R"(  %w = "stablehlo.constant"() <{value = dense<3> : tensor<16x16xi8>}> : () -> tensor<16x16xi8>
  %y = "stablehlo.dot_general"(%x, %w) : (tensor<16x16xi8>, tensor<16x16xi8>) -> tensor<16x16xi32>
)");
  EXPECT_EQ(made.weights, 0U);
  EXPECT_EQ(made.folded, 1U);
  EXPECT_THAT(made.text, Not(HasSubstr("hone")));
}

}  // namespace
}  // namespace hone::iree
