// Programs with f16 sums for gfx942, with and without the spec that widens them.

#include <gmock/gmock.h>

#include "base/file.h"
#include "provider/iree/compiler/transform_specs.h"
#include "provider/iree/gpu/executable.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kProduct = R"mlir(
func.func @main(%a: tensor<128x256xf16>, %b: tensor<256x64xf16>) -> tensor<128x64xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<128x64xf16>
  %sums = linalg.fill ins(%zero : f16) outs(%empty : tensor<128x64xf16>) -> tensor<128x64xf16>
  %c = linalg.matmul ins(%a, %b : tensor<128x256xf16>, tensor<256x64xf16>)
      outs(%sums : tensor<128x64xf16>) -> tensor<128x64xf16>
  return %c : tensor<128x64xf16>
})mlir";

constexpr std::string_view kConvolution = R"mlir(
func.func @main(%a: tensor<1x34x34x64xf16>, %f: tensor<3x3x64x128xf16>) -> tensor<1x32x32x128xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<1x32x32x128xf16>
  %sums = linalg.fill ins(%zero : f16) outs(%empty : tensor<1x32x32x128xf16>) -> tensor<1x32x32x128xf16>
  %c = linalg.conv_2d_nhwc_hwcf
      ins(%a, %f : tensor<1x34x34x64xf16>, tensor<3x3x64x128xf16>)
      outs(%sums : tensor<1x32x32x128xf16>) -> tensor<1x32x32x128xf16>
  return %c : tensor<1x32x32x128xf16>
})mlir";

class WideSums : public testing::TestWithParam<std::string_view> {
 protected:
  // The program's only dispatch.
  static problem::Program split(const std::vector<std::string>& flags) {
    return load("wide.mlir", std::string(GetParam()), flags);
  }
  static bool compiles(const problem::Program& program, const std::vector<std::string>& flags) {
    auto prepared = PreparedDispatch::create(compiler(), program.dispatches.at(0).source, flags);
    return prepared && prepared->compile(std::nullopt).has_value();
  }
};

TEST_P(WideSums, CompileWhereNarrowOnesDoNot) {
  const std::vector<std::string> narrow = gpu_flags(*problem::gpu_target("gfx942"));
  const problem::Program before = split(narrow);
  EXPECT_TRUE(has_narrow_sums(before));
  EXPECT_FALSE(compiles(before, narrow)) << "this compiler needs no wide sums";

  const auto folder = std::move(TemporaryFolder::create("hone-wide").value());
  const auto file = folder.path() / "spec.mlir";
  ASSERT_TRUE(write_file_atomically(file, wide_sums_spec()));
  std::vector<std::string> wide = narrow;
  wide.push_back(std::string(kTransformSpecFlag) + file.string());
  const problem::Program after = split(wide);
  ASSERT_EQ(after.dispatches.size(), 1u);
  EXPECT_FALSE(has_narrow_sums(after));
  EXPECT_THAT(after.dispatches[0].source, HasSubstr("arith.truncf"));
  EXPECT_TRUE(compiles(after, wide));
  // What the program takes and gives is as it was.
  EXPECT_EQ(after.functions, before.functions);
}

INSTANTIATE_TEST_SUITE_P(Programs, WideSums, testing::Values(kProduct, kConvolution),
                         [](const auto& each) {
                           return each.param == kProduct ? "Product" : "Convolution";
                         });

}  // namespace
}  // namespace hone::iree
