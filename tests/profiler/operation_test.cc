// Names of operations say everything, and are the old tool's where it had any.
#include "profiler/operation.h"

#include <gmock/gmock.h>

namespace hone::profiler {
namespace {

using problem::ElementType;
using testing::ElementsAre;
using testing::HasSubstr;

NamedOperation parsed(std::string_view name) {
  const auto operation = parse_operation(name);
  EXPECT_TRUE(operation) << operation.error().message;
  return operation.value_or(NamedOperation{});
}

std::string message_of(std::string_view name) {
  const auto operation = parse_operation(name);
  EXPECT_FALSE(operation) << name;
  return operation ? "" : operation.error().message;
}

TEST(NamedOperation, ReadsTheOldNames) {
  const NamedOperation operation = parsed("matmul_3456x1024x2048_f16t_f16t_f16t");
  EXPECT_EQ(operation.kind, NamedOperationKind::kMatmul);
  EXPECT_EQ(operation.m, 3456);
  EXPECT_EQ(operation.n, 1024);
  EXPECT_EQ(operation.k, 2048);
  EXPECT_EQ(operation.lhs, ElementType::kF16);
  EXPECT_EQ(operation.result, ElementType::kF16);
  EXPECT_EQ(screen_name_of(operation.kind), "OperationKind.Matmul");
  // The seed's lines.
  EXPECT_THAT(
      argument_lines(operation),
      ElementsAre("--batch_count=1 --m=3456 --n=1024 --k=2048 --lhs=f16t --rhs=f16t --result=f16t",
                  "--split_k_mode=N/A --split_k_slices=N/A"));
}

TEST(NamedOperation, CountsFlopsAndBytesAsTheOldTool) {
  const NamedOperation operation = parsed("matmul_3456x1024x2048_f16t_f16t_f16t");
  EXPECT_EQ(operation.flops(),
            14495514624);                  // 2 * 3456 * 1024 * 2048; in 0.062 ms 233,798.62 GFLOP/s
  EXPECT_EQ(operation.bytes(), 25427968);  // 2 * (3456 * 2048 + 2048 * 1024 + 3456 * 1024)
  const NamedOperation batched = parsed("batch_matmul_16x512x64x512_f16t_f16t_f32t");
  EXPECT_EQ(batched.flops(), 536870912);  // 2 * 16 * 512 * 64 * 512
  EXPECT_EQ(batched.bytes(), 11534336);   // 16 * (2 * (512 * 512 + 512 * 64) + 4 * 512 * 64)
}

TEST(NamedOperation, ReadsBackWhatItWrites) {
  for (const std::string_view name :
       {"matmul_1x7x31_s8n_s8n_s32t", "matmul_33x127x1_bf16t_bf16n_f32t",
        "batch_matmul_16x512x64x512_f32n_f32t_f32t",
        "matmul_splitk_128x128x12288_f16t_f16t_f16t_parallel16",
        "conv2d_2x34x34x128_256x3x3_s1x1_d1x1_p0x0_g1_f16nhwc_f16hwcf_f16nhwc",
        "conv2d_bias_relu_1x56x57x64_64x3x1_s2x1_d1x2_p1x0_g2_s8nchw_s8fchw_s32nchw",
        "matmul_bias_relu_64x64x64_f16t_f16t_f16t", "matmul_bias_gelu_64x64x64_bf16t_bf16t_f32t",
        "matmul_bias_add_64x64x64_f32t_f32n_f32t", "attention_20x4096x1024x64_f16t_f16t_f16t"})
    EXPECT_EQ(parsed(name).name(), name);
}

TEST(NamedOperation, SaysTheSlicesOfSplitK) {
  const NamedOperation operation = parsed("matmul_splitk_128x128x12288_f16t_f16t_f16t_parallel4");
  EXPECT_EQ(operation.split_k_slices, 4);
  EXPECT_EQ(argument_lines(operation)[1], "--split_k_mode=parallel --split_k_slices=4");
  EXPECT_EQ(screen_name_of(operation.kind), "OperationKind.SplitkMatmul");
}

TEST(NamedOperation, HasShapesByLayout) {
  using Shape = std::vector<std::int64_t>;
  const NamedOperation columns = parsed("matmul_2x3x5_f32n_f32n_f32t");
  EXPECT_EQ(columns.inputs()[0].shape, (Shape{5, 2}));
  EXPECT_EQ(columns.inputs()[1].shape, (Shape{3, 5}));
  EXPECT_EQ(columns.output().shape, (Shape{2, 3}));
  const NamedOperation added = parsed("matmul_bias_add_2x3x5_f32t_f32t_f32t");
  EXPECT_EQ(added.inputs()[2].shape, Shape{3});
  EXPECT_EQ(added.inputs()[3].shape, (Shape{2, 3}));
  EXPECT_THAT(added.input_names(), ElementsAre("lhs", "rhs", "bias", "residual"));
  const NamedOperation attention = parsed("attention_2x3x5x7_f32t_f32t_f32t");
  EXPECT_EQ(attention.inputs()[2].shape, (Shape{2, 5, 7}));
  EXPECT_EQ(attention.output().shape, (Shape{2, 3, 7}));
  EXPECT_EQ(attention.flops(), 840);  // 4 * 2 * 3 * 5 * 7
}

TEST(NamedOperation, OfAConvolutionIsTheProductOfItsGroups) {
  const NamedOperation operation =
      parsed("conv2d_2x9x11x6_4x3x2_s2x1_d1x3_p1x0_g2_f32nchw_f32fchw_f32nchw");
  EXPECT_EQ(operation.conv.output_height(), 5);  // (9 + 2 - 2 - 1) / 2 + 1
  EXPECT_EQ(operation.conv.output_width(), 8);   // (11 - 3 - 1) / 1 + 1
  const auto [batch, m, n, k] = operation.product();
  EXPECT_EQ(batch, 2);
  EXPECT_EQ(m, 80);  // 2 * 5 * 8
  EXPECT_EQ(n, 2);
  EXPECT_EQ(k, 18);  // 3 * 2 * 3
  EXPECT_EQ(operation.inputs()[0].shape, (std::vector<std::int64_t>{2, 6, 9, 11}));
  EXPECT_EQ(operation.inputs()[1].shape, (std::vector<std::int64_t>{4, 3, 3, 2}));
  EXPECT_EQ(operation.output().shape, (std::vector<std::int64_t>{2, 4, 5, 8}));
  EXPECT_EQ(argument_lines(operation)[2],
            "--conv_input=2x9x11x6 --conv_filter=4x3x2 --conv_stride=2x1 --conv_dilation=1x3 "
            "--conv_padding=1x0 --conv_groups=2");
}

TEST(NamedOperation, SaysWhatIsWrongWithAName) {
  EXPECT_THAT(message_of("gemm_1x2x3_f16t_f16t_f16t"), HasSubstr("begins with none of matmul, "));
  EXPECT_THAT(message_of("matmul_1x2_f16t_f16t_f16t"),
              HasSubstr("behind matmul_ it has to be like MxNxK_f16t_f16t_f16t"));
  EXPECT_THAT(message_of("matmul_064x64x64_f16t_f16t_f16t"), HasSubstr("is no operation's name"));
  EXPECT_THAT(message_of("matmul_64x64x64_f16t_f16t_f16n"), HasSubstr("is no operation's name"));
  EXPECT_THAT(message_of("matmul_0x2x3_f16t_f16t_f16t"),
              HasSubstr("the m of 'matmul_0x2x3_f16t_f16t_f16t' is 0"));
  EXPECT_THAT(message_of("matmul_1x99999999999999999999x3_f16t_f16t_f16t"),
              HasSubstr("is no operation's name"));
  EXPECT_THAT(message_of("matmul_1x2x3_f16t_f32t_f32t"), HasSubstr("f16,f16,f32"));
  EXPECT_THAT(message_of("matmul_bias_gelu_1x2x3_s8t_s8t_s32t"), HasSubstr("the gelu of integers"));
  EXPECT_THAT(message_of("matmul_splitk_8x8x10_f16t_f16t_f16t_parallel4"),
              HasSubstr("is 10, which 4 slices do not divide"));
  EXPECT_THAT(message_of("conv2d_1x2x2x8_8x3x3_s1x1_d1x1_p0x0_g1_f32nhwc_f32hwcf_f32nhwc"),
              HasSubstr("3x3 with its dilation, is larger than the padded input, 2x2"));
  EXPECT_THAT(message_of("conv2d_1x8x8x6_8x3x3_s1x1_d1x1_p0x0_g4_f32nhwc_f32hwcf_f32nhwc"),
              HasSubstr("the 4 groups"));
  EXPECT_THAT(message_of("matmul_1048576x1048576x1_f16t_f16t_f16t"), HasSubstr("fewer than 2^40"));
}

}  // namespace
}  // namespace hone::profiler
