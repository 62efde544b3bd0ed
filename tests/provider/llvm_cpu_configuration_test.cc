#include <gmock/gmock.h>

#include "provider/iree/cpu/space.h"
#include "space/configuration.h"
#include "tests/provider/contractions.h"

namespace hone::iree {
namespace {

using testing::HasSubstr;

space::Space space_for(const problem::Operation& root) {
  return llvm_cpu_contraction_space(root, avx512(1)).value().relax({"all"}).value();
}

constexpr char kDefaultPipeline[] =
    "#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>";

TEST(LlvmCpuConfiguration, BecomesTheCompilersAttributes) {
  const problem::Operation root = matmul(512, 512, 512);
  const space::Space space = space_for(root);
  const auto configuration = space::parse_configuration(
      space, "dist_m=64,dist_n=256,cache_m=0,cache_n=0,cache_k=0,vec_m=8,vec_n=32,red_k=4,peel=0");
  const Attributes attributes =
      llvm_cpu_contraction_attributes(root, space, *configuration).value();
  EXPECT_EQ(attributes.lowering_config,
            "#iree_cpu.lowering_config<distribution = [64, 256, 0], vector_common_parallel = [8, "
            "32, 0], vector_reduction = [0, 0, 4]>");
  EXPECT_EQ(attributes.translation_info, kDefaultPipeline);
  EXPECT_EQ(attributes.init_config, "");
  EXPECT_EQ(attributes.consumer_config, "");
}

TEST(LlvmCpuConfiguration, TilesWhatStaysOutsideABlockedKLoop) {
  const problem::Operation root = matmul(128, 3072, 768);
  const space::Space space = space_for(root);
  const auto configuration = space::parse_configuration(
      space,
      "dist_m=128,dist_n=256,cache_m=0,cache_n=64,cache_k=128,vec_m=8,vec_n=32,red_k=1,peel=0");
  const Attributes attributes =
      llvm_cpu_contraction_attributes(root, space, *configuration).value();
  EXPECT_EQ(attributes.lowering_config,
            "#iree_cpu.lowering_config<distribution = [128, 256, 0], cache_parallel = [0, 64, 0], "
            "cache_reduction = [0, 0, 128], vector_common_parallel = [8, 32, 0], vector_reduction "
            "= [0, 0, 1]>");
  EXPECT_EQ(attributes.init_config, "#iree_cpu.lowering_config<vector_reduction = [8, 32]>");
  EXPECT_EQ(attributes.consumer_config,
            "#iree_cpu.lowering_config<vector_common_parallel = [8, 32]>");
}

TEST(LlvmCpuConfiguration, IsForTheLoopsAsTheyAreAfterAnInterchange) {
  const problem::Operation root = swapped_matmul(196, 1024, 256);
  const space::Space space = space_for(root);
  const auto of = [&](int interchange) {
    const auto configuration = space::parse_configuration(
        space, fmt::format("dist_m=196,dist_n=64,cache_m=0,cache_n=0,cache_k=32,vec_m=32,vec_n=8,"
                           "red_k=4,peel=0,interchange={}",
                           interchange));
    return llvm_cpu_contraction_attributes(root, space, *configuration).value();
  };
  EXPECT_EQ(of(1).lowering_config,
            "#iree_cpu.lowering_config<distribution = [196, 64, 0], cache_reduction = [0, 0, 32], "
            "vector_common_parallel = [32, 8, 0], vector_reduction = [0, 0, 4]>");
  EXPECT_EQ(of(1).interchange, (std::vector<int>{1, 0, 2}));
  EXPECT_EQ(of(0).lowering_config,
            "#iree_cpu.lowering_config<distribution = [64, 196, 0], cache_reduction = [0, 0, 32], "
            "vector_common_parallel = [8, 32, 0], vector_reduction = [0, 0, 4]>");
  EXPECT_EQ(of(0).interchange, std::vector<int>());
  // What walks the result has its dimensions whatever the root's loops: (n, m).
  EXPECT_EQ(of(1).consumer_config, "#iree_cpu.lowering_config<vector_common_parallel = [8, 32]>");
}

TEST(LlvmCpuConfiguration, OrdersTheOutputsTilesByItsDimensions) {
  problem::Operation root = matmul(64, 128, 64);
  root.operands[2] = {{problem::ElementType::kF32, {128, 64}}, {1, 0}, true};  // C (n,m)
  const space::Space space = space_for(root);
  const auto configuration = space::parse_configuration(
      space, "dist_m=64,dist_n=64,cache_m=0,cache_n=0,cache_k=32,vec_m=32,vec_n=8,red_k=1,peel=0");
  EXPECT_EQ(llvm_cpu_contraction_attributes(root, space, *configuration)->init_config,
            "#iree_cpu.lowering_config<vector_reduction = [8, 32]>");
}

TEST(LoweringConfigLevels, RefusesAnotherAttributeAndAnOpenList) {
  for (const char* text : {"#iree_gpu.lowering_config<{workgroup = [64, 64, 0]}>",
                           "#iree_cpu.lowering_config<distribution = [64, 64>"})
    EXPECT_THAT(lowering_config_levels(text).error().message, HasSubstr("is not of the form"));
}

}  // namespace
}  // namespace hone::iree
