// The old tile lists, their filters, and files that change only when they have to.
#include <gmock/gmock.h>

#include "base/file.h"
#include "profiler/dispatch_choice.h"
#include "profiler/source.h"
#include "profiler/tree.h"

namespace hone::profiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NamedOperation operation_of(std::string_view name) {
  return parse_operation(name).value();
}

std::vector<std::string> tiles_of(std::string_view name, const GenerationTarget& target,
                                  std::vector<SkippedDispatch>& left_out) {
  std::vector<std::string> names;
  for (const TileConfiguration& each : tile_configurations(operation_of(name), target, left_out))
    names.push_back(each.name);
  return names;
}

TEST(TileConfigurations, AreTheOldListInItsOrder) {
  std::vector<SkippedDispatch> left_out;
  EXPECT_THAT(
      tiles_of("matmul_3456x1024x2048_f16t_f16t_f16t", cuda_target("sm_80").value(), left_out),
      ElementsAre("tile_config_128x256_32x3_tensorcore_mmasync",
                  "tile_config_128x128_64x4_tensorcore_mmasync",
                  "tile_config_128x128_32x5_tensorcore_mmasync",
                  "tile_config_128x64_32x5_tensorcore_mmasync",
                  "tile_config_64x64_64x5_tensorcore_mmasync",
                  "tile_config_64x64_32x10_tensorcore_mmasync"));
  ASSERT_EQ(left_out.size(), 1U);  // 3456 = 13.5 x 256
  EXPECT_EQ(left_out[0].dispatch,
            "matmul_3456x1024x2048_f16t_f16t_f16t_tile_config_256x128_32x3_tensorcore_mmasync");
  EXPECT_EQ(left_out[0].reason, "the tile 256x128x32 does not divide 3456x1024x2048");
}

TEST(TileConfigurations, FitTheSharedMemoryOfTheArchitecture) {
  std::vector<SkippedDispatch> left_out;
  EXPECT_EQ(
      tiles_of("matmul_256x256x256_f16t_f16t_f16t", cuda_target("sm_80").value(), left_out).size(),
      7U);
  EXPECT_TRUE(left_out.empty());
  EXPECT_EQ(
      tiles_of("matmul_256x256x256_f16t_f16t_f16t", cuda_target("sm_86").value(), left_out).size(),
      6U);
  ASSERT_EQ(left_out.size(), 1U);
  // 2 bytes x (128 x 64 + 64 x 128) x 4 stages; 99 KiB.
  EXPECT_EQ(left_out[0].reason,
            "it requires 131072 bytes of shared memory, which is larger than the sm_86 capacity of "
            "101376 bytes");
}

TEST(TileConfigurations, OfF32MeantTf32AndAreNot) {
  std::vector<SkippedDispatch> left_out;
  EXPECT_THAT(tiles_of("matmul_256x256x256_f32t_f32t_f32t", cuda_target("sm_80").value(), left_out),
              testing::IsEmpty());
  ASSERT_EQ(left_out.size(), 9U);
  EXPECT_THAT(left_out[2].dispatch, HasSubstr("tile_config_128x128_16x5_tensorcore_mmasync"));
  EXPECT_THAT(left_out[2].reason, HasSubstr("TF32"));
}

TEST(TileConfigurations, DivideASliceOfK) {
  std::vector<SkippedDispatch> left_out;
  // 64 / 2 = 32 elements a slice.
  EXPECT_THAT(tiles_of("matmul_splitk_64x64x64_f16t_f16t_f16t_parallel2",
                       cuda_target("sm_80").value(), left_out),
              ElementsAre("tile_config_64x64_32x10_tensorcore_mmasync"));
}

TEST(TileConfigurations, SayTheCompilersTiles) {
  std::vector<SkippedDispatch> left_out;
  const auto configurations =
      tile_configurations(operation_of("batch_matmul_2x128x128x32_bf16t_bf16t_bf16t"),
                          cuda_target("sm_80").value(), left_out);
  ASSERT_FALSE(configurations.empty());
  EXPECT_EQ(configurations[0].name, "tile_config_128x128_32x5_tensorcore_mmasync");
  // 32 / 16 instructions along k; of 2 x 2 subgroups each has 128 / 16 / 2 x 128 / 8 / 2 of the
  // product.
  EXPECT_THAT(
      configurations[0].compilation_info,
      HasSubstr("workgroup = [1, 128, 128, 0], reduction = [0, 0, 0, 2], subgroup = [0, 4, 8, 0]"));
  EXPECT_THAT(configurations[0].compilation_info, HasSubstr("NV_MMA_SYNC_F32_16x8x16_BF16"));
  EXPECT_THAT(configurations[0].compilation_info,
              HasSubstr("workgroup_size = [128, 1, 1] subgroup_size = 32"));
}

TEST(TileConfigurations, OfAConvolutionAreRectanglesOfPixelsByFilters) {
  const GenerationTarget target = cuda_target("sm_80").value();
  std::vector<SkippedDispatch> left_out;
  // 2 x 16 x 16 pixels, 64 filters, 9 x 32 under one.
  const auto configurations = tile_configurations(
      operation_of("conv2d_2x18x18x32_64x3x3_s1x1_d1x1_p0x0_g1_f16nhwc_f16hwcf_f16nhwc"), target,
      left_out);
  ASSERT_FALSE(configurations.empty());
  EXPECT_EQ(configurations[0].name, "tile_config_128x64_32x5_tensorcore_mmasync");
  // 8 rows of 16 pixels; two subgroups along the rows and two along the filters: 4 x 1 and 4
  // instructions each.
  EXPECT_THAT(configurations[0].compilation_info,
              HasSubstr("workgroup = [1, 8, 16, 64, 0], reduction = [0, 0, 0, 0, 2], subgroup = "
                        "[0, 4, 1, 4, 0]"));
  EXPECT_THAT(configurations[0].compilation_info, HasSubstr("use_igemm_convolution = true"));
  for (const std::string_view name :
       {"conv2d_1x18x18x32_64x3x3_s1x1_d1x1_p0x0_g1_f16nhwc_f16hwcf_f16nhwc",
        "conv2d_2x16x16x32_64x1x1_s1x1_d1x1_p0x0_g1_f16nhwc_f16hwcf_f16nhwc",
        "conv2d_2x30x30x32_64x3x3_s1x1_d1x1_p0x0_g1_f16nhwc_f16hwcf_f16nhwc",
        "conv2d_2x18x18x32_64x3x3_s1x1_d1x1_p0x0_g2_f16nhwc_f16hwcf_f16nhwc"})
    EXPECT_TRUE(tile_configurations(operation_of(name), target, left_out).empty()) << name;
}

TEST(TileConfigurations, HaveColumns) {
  using Column = std::pair<std::string, std::string>;
  EXPECT_THAT(configuration_columns("tile_config_128x128_32x5_tensorcore_mmasync"),
              ElementsAre(Column("Tile config", "128x128_32x5"), Column("Core class", "tensorcore"),
                          Column("Instruction class", "mmasync")));
  EXPECT_EQ(configuration_columns("tile_config_default")[0].second, "Default");
  EXPECT_EQ(configuration_columns("tile_config_space_12ab")[0].second, "space_12ab");
}

TEST(Generation, GivesAReasonForADispatchThatIsLeftOut) {
  GenerationChoice choice;
  choice.filter =
      DispatchFilter::parse(
          "matmul_256x256x256_f32t_f32t_f32t_tile_config_128x128_16x5_tensorcore_mmasync")
          .value();
  const std::vector operations = {operation_of("matmul_256x256x256_f32t_f32t_f32t")};
  const auto plan = plan_generation(operations, choice);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::kInput);
  EXPECT_THAT(plan.error().message,
              HasSubstr("which is not generated: f32 on tensor cores meant TF32"));
}

TEST(Generation, FiltersDispatchesAndDropsRepeatedOperations) {
  GenerationChoice choice;
  choice.default_configuration = true;
  choice.filter = DispatchFilter::parse("*128x128*mmasync,f32t_tile_config_default").value();
  const NamedOperation f16 = operation_of("matmul_128x128x64_f16t_f16t_f16t");
  const std::vector operations = {f16, operation_of("matmul_128x128x64_f32t_f32t_f32t"), f16,
                                  operation_of("matmul_7x7x7_f16t_f16t_f16t")};
  const auto plan = plan_generation(operations, choice);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->operations.size(), 2U);
  EXPECT_EQ(plan->operations[0].operation, f16);
  // All five that divide: "*128x128*" fits the operation's name too.
  EXPECT_EQ(plan->operations[0].configurations.size(), 5U);
  EXPECT_THAT(plan->operations[1].configurations, ElementsAre(default_configuration()));
}

TEST(Generation, WritesOnlyWhatChanges) {
  const TemporaryFolder folder = TemporaryFolder::create("generation").value();
  PlannedOperation planned{operation_of("matmul_64x64x64_f16t_f16t_f16t"),
                           {default_configuration()}};
  EXPECT_EQ(write_source(folder.path(), planned).value(), Written::kNew);
  EXPECT_EQ(write_source(folder.path(), planned).value(), Written::kUnchanged);
  planned.configurations.push_back({"tile_config_other", "#other"});
  EXPECT_EQ(write_source(folder.path(), planned).value(), Written::kChanged);
  const auto dispatches = dispatches_of(folder.path(), planned.operation);
  ASSERT_TRUE(dispatches) << dispatches.error().message;
  EXPECT_EQ(dispatches->size(), 2U);
}

TEST(Source, IsAFunctionForEachConfiguration) {
  const std::vector<TileConfiguration> configurations = {default_configuration()};
  EXPECT_EQ(
      source_text(operation_of("matmul_2x3x5_f16n_f16t_f32t"), configurations),
      "// matmul_2x3x5_f16n_f16t_f32t: a function for each configuration, by hone generate "
      "(docs/dispatch-profiler.md)\n"
      "\n"
      "func.func @matmul_2x3x5_f16n_f16t_f32t_tile_config_default(\n"
      "    %lhs: tensor<5x2xf16>, %rhs: tensor<5x3xf16>) -> tensor<2x3xf32> {\n"
      "  %sums_zero = arith.constant 0.0 : f32\n"
      "  %sums_empty = tensor.empty() : tensor<2x3xf32>\n"
      "  %sums = linalg.fill ins(%sums_zero : f32) outs(%sums_empty : tensor<2x3xf32>) -> "
      "tensor<2x3xf32>\n"
      "  %product = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, "
      "affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]\n"
      "      ins(%lhs, %rhs : tensor<5x2xf16>, tensor<5x3xf16>) outs(%sums : tensor<2x3xf32>) "
      "-> tensor<2x3xf32>\n"
      "  return %product : tensor<2x3xf32>\n"
      "}\n");
}

}  // namespace
}  // namespace hone::profiler
