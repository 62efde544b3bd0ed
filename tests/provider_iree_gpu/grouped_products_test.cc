// Grouped 1x1 convolutions, which become batched products.
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <string>

#include "tests/provider_iree_gpu/regions.h"

namespace hone::iree {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// 2 groups of 3 filters over 4 channels, on 33 points, with a bias in f16.
constexpr std::string_view kProgram = R"mlir(
func.func @main(%image: tensor<1x2x4x33x1xf16>, %filter: tensor<2x3x4x1x1xf16>,
                %bias: tensor<6xf16>) -> tensor<1x2x3x33x1xf32> {
  %narrow = tensor.empty() : tensor<6xf32>
  %wide = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%bias : tensor<6xf16>) outs(%narrow : tensor<6xf32>) {
  ^bb0(%x: f16, %o: f32):
    %y = arith.extf %x : f16 to f32
    linalg.yield %y : f32
  } -> tensor<6xf32>
  %place = tensor.empty() : tensor<1x6x33x1xf32>
  %all = linalg.broadcast ins(%wide : tensor<6xf32>) outs(%place : tensor<1x6x33x1xf32>)
      dimensions = [0, 2, 3]
  %begin = tensor.expand_shape %all [[0], [1, 2], [3], [4]] output_shape [1, 2, 3, 33, 1]
      : tensor<1x6x33x1xf32> into tensor<1x2x3x33x1xf32>
  %sums = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>,
                                      strides = dense<1> : vector<2xi64>}
      ins(%image, %filter : tensor<1x2x4x33x1xf16>, tensor<2x3x4x1x1xf16>)
      outs(%begin : tensor<1x2x3x33x1xf32>) -> tensor<1x2x3x33x1xf32>
  return %sums : tensor<1x2x3x33x1xf32>
})mlir";

problem::Regions regions_of(const std::string& text) {
  return load("main.mlir", text, sm_80_flags()).regions;
}

// 64 filters over 64 channels.
TEST_F(RegionTest, AGroupedConvolutionThatIreeRefusesCompilesAsProducts) {
  std::string text = replaced(std::string(kProgram), "1x2x4x33x", "1x2x64x33x");
  text = replaced(replaced(text, "2x3x4x1x1x", "2x64x64x1x1x"), "1x2x3x33x", "1x2x64x33x");
  text = replaced(replaced(text, "<6x", "<128x"), "1x6x33x", "1x128x33x");
  text = replaced(text, "[1, 2, 3, 33, 1]", "[1, 2, 64, 33, 1]");
  const problem::Regions regions = regions_of(text);
  EXPECT_THAT(regions.names, ElementsAre("2 products 64x33x64"));
  const auto refused =
      compile_program(compiler(), "main.mlir", text, sm_80_flags(), ModuleKind::kProgram);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("failed to bufferize op"));
  EXPECT_TRUE(compile_program(compiler(), "main.mlir", text, with_spec(sm_80_flags(), regions.spec),
                              ModuleKind::kProgram));
}

// The channels of the image are 1, 2, 3, 4 in group 0 and 10, 20, 30, 40 in group 1. A filter's
// weights are all its number, 1 to 6, and its bias is 100 times that: 10 n + 100 n, 100 n + 100 n.
TEST_F(RegionTest, GroupedProductsGiveWhatTheConvolutionDoes) {
  const std::string text(kProgram);
  const auto call = [](bool last_is_channels) {
    std::vector<double> image, filter, results;
    const auto at = [&](int group, int channel) { return (channel + 1) * (group == 0 ? 1 : 10); };
    if (last_is_channels) {
      for (int point = 0; point < 33; ++point)
        for (int row = 0; row < 8; ++row) image.push_back(at(row / 4, row % 4));
      for (int point = 0; point < 33; ++point)
        for (int n = 1; n <= 6; ++n) results.push_back(n <= 3 ? 110 * n : 200 * n);
    } else {
      for (int row = 0; row < 8; ++row) image.insert(image.end(), 33, at(row / 4, row % 4));
      for (int n = 1; n <= 6; ++n) results.insert(results.end(), 33, n <= 3 ? 110 * n : 200 * n);
    }
    for (int n = 1; n <= 6; ++n) filter.insert(filter.end(), 4, n);
    const auto shape = [&](int channels) {
      return last_is_channels ? fmt::format("1x33x1x2x{}", channels)
                              : fmt::format("1x2x{}x33x1", channels);
    };
    return fmt::format(
        "'--input={}xf16={}' '--input={}xf16={}' '--input=6xf16=100 200 300 400 500 600' "
        "'--expected_output={}xf32={}'",
        shape(4), fmt::join(image, " "), last_is_channels ? "2x3x1x1x4" : "2x3x4x1x1",
        fmt::join(filter, " "), shape(3), fmt::join(results, " "));
  };
  EXPECT_TRUE(gives(text, "", call(false)));
  const std::string spec = regions_of(text).spec;
  EXPECT_TRUE(gives(text, spec, call(false)));
  // A bias that is dropped, and one that is added twice.
  EXPECT_THAT(spec, HasSubstr("arith.addf %products, %arg2"));
  EXPECT_FALSE(gives(text, replaced(spec, "%products, %arg2", "%products, %none"), call(false)));
  EXPECT_FALSE(
      gives(text, replaced(spec, "outs(%none : tensor<1x", "outs(%arg2 : tensor<1x"), call(false)));

  // The filters of both groups side by side.
  const std::string by_filter = replaced(
      replaced(text, "conv_2d_ngchw_gfchw", "conv_2d_ngchw_fgchw"), "2x3x4x1x1x", "3x2x4x1x1x");
  const auto numbers = [](const std::vector<int>& filters) {
    std::vector<int> all;
    for (const int n : filters) all.insert(all.end(), 4, n);
    return fmt::format("{}", fmt::join(all, " "));
  };
  const std::string call_by_filter =
      replaced(replaced(call(false), "2x3x4x1x1x", "3x2x4x1x1x"), numbers({1, 2, 3, 4, 5, 6}),
               numbers({1, 4, 2, 5, 3, 6}));
  EXPECT_TRUE(gives(by_filter, "", call_by_filter));
  EXPECT_TRUE(gives(by_filter, regions_of(by_filter).spec, call_by_filter));
  EXPECT_THAT(regions_of(by_filter).names, ElementsAre("2 products 3x33x4"));

  std::string other = replaced(text, "conv_2d_ngchw_gfchw", "conv_2d_nhwgc_gfhwc");
  other = replaced(replaced(other, "1x2x4x33x1x", "1x33x1x2x4x"), "2x3x4x1x1x", "2x3x1x1x4x");
  other = replaced(replaced(other, "1x2x3x33x1x", "1x33x1x2x3x"), "1x6x33x1x", "1x33x1x6x");
  other = replaced(replaced(other, "[0, 2, 3]", "[0, 1, 2]"), "[[0], [1, 2], [3], [4]]",
                   "[[0], [1], [2], [3, 4]]");
  other = replaced(other, "[1, 2, 3, 33, 1]", "[1, 33, 1, 2, 3]");
  const problem::Regions regions = regions_of(other);
  EXPECT_THAT(regions.names, ElementsAre("2 products 3x33x4"));
  EXPECT_TRUE(gives(other, regions.spec, call(true)));
}

// The sums are rounded behind the bias, and behind a reshape. In f16 2049 rounds to 2048, so
// 1 x 2049 + 1 would give 2048 if the product was rounded first.
TEST_F(RegionTest, SumsOfGroupedProductsAreRoundedBehindTheBias) {
  std::string text(kProgram);
  const auto at = text.find("  return %sums");
  text = text.substr(0, at) + R"mlir(
  %flat = tensor.collapse_shape %sums [[0], [1, 2], [3], [4]]
      : tensor<1x2x3x33x1xf32> into tensor<1x6x33x1xf32>
  %room = tensor.empty() : tensor<1x6x33x1xf16>
  %rounded = linalg.generic {
      indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%flat : tensor<1x6x33x1xf32>) outs(%room : tensor<1x6x33x1xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<1x6x33x1xf16>
  return %rounded : tensor<1x6x33x1xf16>
})mlir";
  text = replaced(text, "%bias: tensor<6xf16>) -> tensor<1x2x3x33x1xf32>",
                  "%bias: tensor<6xf16>) -> tensor<1x6x33x1xf16>");
  const std::string call =
      "'--input=1x2x4x33x1xf16=1' '--input=2x3x4x1x1xf16=2048 1 0 0 2048 1 0 0 2048 1 0 0 "
      "2048 1 0 0 2048 1 0 0 2048 1 0 0' '--input=6xf16=1' '--expected_output=1x6x33x1xf16=2050' "
      "'--expected_f16_threshold=0'";
  EXPECT_TRUE(gives(text, "", call));
  const std::string spec = regions_of(text).spec;
  EXPECT_TRUE(gives(text, spec, call));
  EXPECT_THAT(spec, HasSubstr("%narrow = arith.truncf %biased"));
  const std::string early = replaced(
      spec, "%biased = arith.addf %products, %arg2 : tensor<1x2x3x33x1xf32>",
      "%early = arith.truncf %products : tensor<1x2x3x33x1xf32> to tensor<1x2x3x33x1xf16>\n"
      "    %wide = arith.extf %early : tensor<1x2x3x33x1xf16> to tensor<1x2x3x33x1xf32>\n"
      "    %biased = arith.addf %wide, %arg2 : tensor<1x2x3x33x1xf32>");
  EXPECT_NE(early, spec);
  EXPECT_FALSE(gives(text, early, call));
  // Without the reshape.
  std::string direct =
      replaced(text, "%flat : tensor<1x6x33x1xf32>", "%sums : tensor<1x2x3x33x1xf32>");
  direct = replaced(replaced(direct, "(a, b, c, d)", "(a, b, c, d, e)"), "1x6x33x1xf16",
                    "1x2x3x33x1xf16");
  direct = replaced(direct, R"("parallel", "parallel", "parallel", "parallel"])",
                    R"("parallel", "parallel", "parallel", "parallel", "parallel"])");
  const std::string narrow = regions_of(direct).spec;
  EXPECT_THAT(narrow, HasSubstr("util.return %narrow"));
  EXPECT_TRUE(gives(direct, narrow, replaced(call, "1x6x33x1xf16", "1x2x3x33x1xf16")));
}

// A convolution of two groups whose images are transposed matrices of 33 points and 4 channels:
// the first twice, as projections of a transformer are written, or both (%d).
std::string of_transposed(const std::string& second) {
  return replaced(R"mlir(
func.func @main(%x: tensor<1x33x4xf16>, %y: tensor<1x33x4xf16>, %filter: tensor<2x3x4x1x1xf16>,
                %bias: tensor<6xf32>) -> tensor<1x6x33x1xf16> {
  %room = tensor.empty() : tensor<1x4x33xf16>
  %a = linalg.transpose ins(%x : tensor<1x33x4xf16>) outs(%room : tensor<1x4x33xf16>)
      permutation = [0, 2, 1]
  %b = linalg.transpose ins(%y : tensor<1x33x4xf16>) outs(%room : tensor<1x4x33xf16>)
      permutation = [0, 2, 1]
  %c = tensor.expand_shape %a [[0], [1], [2, 3]] output_shape [1, 4, 33, 1]
      : tensor<1x4x33xf16> into tensor<1x4x33x1xf16>
  %d = tensor.expand_shape %b [[0], [1], [2, 3]] output_shape [1, 4, 33, 1]
      : tensor<1x4x33xf16> into tensor<1x4x33x1xf16>
  %both = tensor.concat dim(1) %c, SECOND
      : (tensor<1x4x33x1xf16>, tensor<1x4x33x1xf16>) -> tensor<1x8x33x1xf16>
  %image = tensor.expand_shape %both [[0], [1, 2], [3], [4]] output_shape [1, 2, 4, 33, 1]
      : tensor<1x8x33x1xf16> into tensor<1x2x4x33x1xf16>
  %place = tensor.empty() : tensor<1x6x33x1xf32>
  %all = linalg.broadcast ins(%bias : tensor<6xf32>) outs(%place : tensor<1x6x33x1xf32>)
      dimensions = [0, 2, 3]
  %begin = tensor.expand_shape %all [[0], [1, 2], [3], [4]] output_shape [1, 2, 3, 33, 1]
      : tensor<1x6x33x1xf32> into tensor<1x2x3x33x1xf32>
  %sums = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>,
                                      strides = dense<1> : vector<2xi64>}
      ins(%image, %filter : tensor<1x2x4x33x1xf16>, tensor<2x3x4x1x1xf16>)
      outs(%begin : tensor<1x2x3x33x1xf32>) -> tensor<1x2x3x33x1xf32>
  %flat = tensor.collapse_shape %sums [[0], [1, 2], [3], [4]]
      : tensor<1x2x3x33x1xf32> into tensor<1x6x33x1xf32>
  %narrow = tensor.empty() : tensor<1x6x33x1xf16>
  %rounded = linalg.generic {
      indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>,
                       affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%flat : tensor<1x6x33x1xf32>) outs(%narrow : tensor<1x6x33x1xf16>) {
  ^bb0(%v: f32, %o: f16):
    %w = arith.truncf %v : f32 to f16
    linalg.yield %w : f16
  } -> tensor<1x6x33x1xf16>
  return %rounded : tensor<1x6x33x1xf16>
})mlir",
                  "SECOND", second);
}

// The first point's channels are 1, 2, 3, 4, those of the others 2, 4, 6, 8; of the second matrix
// three times that. A filter's weights are all its number, 1 to 6, and its bias is 100 times that.
TEST_F(RegionTest, GroupsThatReadOneMatrixAreOneProductOfItsRows) {
  std::vector<int> x, y, filter, of_one, of_both;
  for (int point = 0; point < 33; ++point)
    for (int channel = 1; channel <= 4; ++channel) {
      x.push_back(channel * (point == 0 ? 1 : 2));
      y.push_back(3 * x.back());
    }
  for (int n = 1; n <= 6; ++n) {
    filter.insert(filter.end(), 4, n);
    for (int point = 0; point < 33; ++point) {
      const int sum = (point == 0 ? 10 : 20) * n;
      of_one.push_back(sum + 100 * n);
      of_both.push_back((n <= 3 ? 1 : 3) * sum + 100 * n);
    }
  }
  const auto call = [&](const std::vector<int>& results) {
    return fmt::format(
        "'--input=1x33x4xf16={}' '--input=1x33x4xf16={}' '--input=2x3x4x1x1xf16={}' "
        "'--input=6xf32=100 200 300 400 500 600' '--expected_output=1x6x33x1xf16={}' "
        "'--expected_f16_threshold=0'",
        fmt::join(x, " "), fmt::join(y, " "), fmt::join(filter, " "), fmt::join(results, " "));
  };
  const std::string one = of_transposed("%c"), both = of_transposed("%d");
  EXPECT_TRUE(gives(one, "", call(of_one)));
  const problem::Regions regions = regions_of(one);
  EXPECT_THAT(regions.names, ElementsAre("product 6x33x4"));
  EXPECT_TRUE(gives(one, regions.spec, call(of_one)));
  // A bias that is dropped, and one that is added twice.
  EXPECT_FALSE(
      gives(one, replaced(regions.spec, "%products, %bias", "%products, %none"), call(of_one)));
  EXPECT_FALSE(gives(one,
                     replaced(regions.spec, "outs(%none : tensor<1x33", "outs(%bias : tensor<1x33"),
                     call(of_one)));
  // Without the rounding.
  std::string exact =
      one.substr(0, one.find("  %flat")) + "  return %sums : tensor<1x2x3x33x1xf32>\n}";
  exact = replaced(exact, "-> tensor<1x6x33x1xf16> {", "-> tensor<1x2x3x33x1xf32> {");
  EXPECT_THAT(regions_of(exact).names, ElementsAre("product 6x33x4"));
  EXPECT_TRUE(gives(exact, regions_of(exact).spec,
                    replaced(call(of_one), "1x6x33x1xf16", "1x2x3x33x1xf32")));
  // What is for one matrix is not for two.
  EXPECT_THAT(regions_of(both).names, ElementsAre("2 products 3x33x4"));
  EXPECT_TRUE(gives(both, regions_of(both).spec, call(of_both)));
  EXPECT_TRUE(gives(both, regions.spec, call(of_both)));
}

TEST_F(RegionTest, AConvolutionWithAStrideIsNoProduct) {
  std::string text = replaced(std::string(kProgram), "strides = dense<1>", "strides = dense<2>");
  text = replaced(replaced(text, "2x3x33x1x", "2x3x17x1x"), "1x6x33x1x", "1x6x17x1x");
  text = replaced(text, "[1, 2, 3, 33, 1]", "[1, 2, 3, 17, 1]");
  EXPECT_THAT(regions_of(text).names, IsEmpty());
}

}  // namespace
}  // namespace hone::iree
