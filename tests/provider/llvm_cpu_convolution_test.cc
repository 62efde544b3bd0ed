#include <gmock/gmock.h>

#include <set>

#include "provider/iree/cpu/loops.h"
#include "provider/iree/cpu/space.h"
#include "provider/iree/spec/tuning_spec.h"
#include "space/configuration.h"
#include "tests/provider/contractions.h"
#include "tests/provider/convolutions.h"
#include "tests/space/broken_rules.h"

namespace hone::iree {
namespace {

using problem::Operation;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> labels(const ConvolutionLoops& loops) {
  std::vector<std::string> names;
  for (const ContractionLoop& loop : loops.nest.loops) names.push_back(loop.label);
  return names;
}

space::Space hard_convolution_space(const Operation& root) {
  return llvm_cpu_convolution_space(root, avx512(1)).value().relax({"all"}).value();
}

constexpr char kDecomposing[] =
    "#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<ConvTileAndDecomposeExpert>>";

// The operands' loops are those of IREE 3.13 for the named operation.
Operation with_operands(std::vector<problem::Loop> loops, std::vector<int> image,
                        std::vector<int> filter, std::vector<int> output) {
  Operation root;
  root.kind = problem::OperationKind::kConvolution;
  root.loops = std::move(loops);
  for (const auto* each : {&image, &filter, &output})
    root.operands.push_back({{problem::ElementType::kF32, {}}, *each, each == &output});
  return root;
}

TEST(ConvolutionLoops, NameTheLoopsAndTellTheFormsApart) {
  const auto nhwc = convolution_loops(nhwc_convolution(2, 14, 14, 32, 3, 3, 16)).value();
  EXPECT_THAT(labels(nhwc), ElementsAre("n", "oh", "ow", "f", "kh", "kw", "c"));
  EXPECT_EQ(nhwc.form, ConvolutionForm::kDecomposed);
  EXPECT_TRUE(nhwc.sums_channels);
  EXPECT_EQ(nhwc.nest.lane, 3);

  const auto nchw =
      convolution_loops(
          with_operands(
              {{false, 2}, {false, 32}, {false, 14}, {false, 14}, {true, 16}, {true, 3}, {true, 3}},
              {0, 4, -1, -1}, {1, 4, 5, 6}, {0, 1, 2, 3}))
          .value();
  EXPECT_THAT(labels(nchw), ElementsAre("n", "f", "oh", "ow", "c", "kh", "kw"));
  EXPECT_EQ(nchw.form, ConvolutionForm::kDecomposed);

  const auto depthwise = convolution_loops(depthwise_convolution(2, 14, 14, 32, 3, 3)).value();
  EXPECT_THAT(labels(depthwise), ElementsAre("n", "oh", "ow", "c", "kh", "kw"));
  EXPECT_EQ(depthwise.form, ConvolutionForm::kDecomposed);
  EXPECT_FALSE(depthwise.sums_channels);

  const std::vector<problem::Loop> pooled = {{false, 2},  {false, 14}, {false, 14},
                                             {false, 32}, {true, 3},   {true, 3}};
  const auto pooling =
      convolution_loops(with_operands(pooled, {0, -1, -1, 3}, {4, 5}, {0, 1, 2, 3})).value();
  EXPECT_THAT(labels(pooling), ElementsAre("n", "oh", "ow", "c", "kh", "kw"));
  EXPECT_EQ(pooling.form, ConvolutionForm::kDecomposed);

  const auto grouped =
      convolution_loops(with_operands({{false, 2},
                                       {false, 4},
                                       {false, 8},
                                       {false, 14},
                                       {false, 14},
                                       {true, 8},
                                       {true, 3},
                                       {true, 3}},
                                      {0, 1, 5, -1, -1}, {2, 1, 5, 6, 7}, {0, 1, 2, 3, 4}))
          .value();
  EXPECT_THAT(labels(grouped), ElementsAre("n", "g", "f", "oh", "ow", "c", "kh", "kw"));
  EXPECT_EQ(grouped.form, ConvolutionForm::kScalar);

  const auto line =
      convolution_loops(with_operands({{false, 2}, {false, 16}, {false, 32}, {true, 3}, {true, 16}},
                                      {0, -1, 4}, {3, 4, 2}, {0, 1, 2}))
          .value();
  EXPECT_THAT(labels(line), ElementsAre("n", "ow", "f", "kw", "c"));
  EXPECT_EQ(line.form, ConvolutionForm::kOneDimensional);
}

TEST(ConvolutionLoops, SayWhatIsNone) {
  EXPECT_THAT(convolution_loops(matmul(4, 4, 4)).error().message, HasSubstr("not a convolution"));
  Operation open = nhwc_convolution(2, 14, 14, 32, 3, 3, 16);
  open.loops[1].size = problem::kDynamic;
  EXPECT_THAT(convolution_loops(open).error().message, HasSubstr("only at run time"));
}

// One row of two pixels, 16 channels, three filter taps.
//   ow: (dist, vec) is (1,1), (2,1) or (2,2), without remainders.
//   c: dist 1 2 3 4 6 8 12 16 holds 1+2+3+4+6+8+10+12 = 46 of the vector tiles 1-8, 10, 12, 14, 16;
//      all tiles divide in 1+2+3+4+5 = 15 of them (dist 1 2 4 8 16).
//   kw: 1, 2 or 3 steps; 2 leaves a remainder.
//   Peeling needs a remainder: 46*3 - 15*2 = 108 of the 138 pairs of c and kw have one.
TEST(LlvmCpuConvolutionSpace, CountsTheHardRulesByHand) {
  const space::Space space = hard_convolution_space(depthwise_convolution(1, 1, 2, 16, 1, 3));
  EXPECT_EQ(space.count().value, 2U * 3U * (138U + 108U));
}

// Of those: taken apart, one full register of channels (dist_c and vec_c 16), kw 1 or 3, no
// peeling.
TEST(LlvmCpuConvolutionSpace, CountsTheSoftRulesByHand) {
  const space::Space space =
      llvm_cpu_convolution_space(depthwise_convolution(1, 1, 2, 16, 1, 3), avx512(1)).value();
  EXPECT_EQ(space.count().value, 3U * 2U);
}

TEST(LlvmCpuConvolutionSpace, SaysWhatKeepsAConvolutionScalar) {
  const space::Space space =
      llvm_cpu_convolution_space(nhwc_convolution(2, 28, 28, 64, 3, 3, 64), avx512(1)).value();
  const std::string rest =
      ",dist_n=1,dist_oh=4,dist_ow=28,dist_f=64,vec_f=32,red_kw=1,red_c=4,peel=0";
  EXPECT_THAT(broken(space, "decompose=1,vec_oh=1,vec_ow=7,red_kh=1" + rest), testing::IsEmpty());
  EXPECT_THAT(broken(space, "decompose=1,vec_oh=4,vec_ow=1,red_kh=1" + rest), testing::IsEmpty());
  EXPECT_THAT(broken(space, "decompose=0,vec_oh=1,vec_ow=7,red_kh=1" + rest),
              ElementsAre("taken_apart_to_one_dimension"));
  EXPECT_THAT(broken(space, "decompose=1,vec_oh=2,vec_ow=2,red_kh=1" + rest),
              ElementsAre("taken_apart_to_one_dimension"));
  // 14 registers of sums, times 3 and 4 steps: 168 multiply-adds.
  EXPECT_THAT(broken(space, "decompose=1,vec_oh=1,vec_ow=7,red_kh=3" + rest),
              ElementsAre("taken_apart_to_one_dimension", "unrolled_code_small"));
}

TEST(LlvmCpuConvolutionConfiguration, BecomesTheCompilersAttributes) {
  const Operation root = nhwc_convolution(1, 14, 14, 32, 3, 3, 16);
  const space::Space space = hard_convolution_space(root);
  const auto configuration = space::parse_configuration(
      space,
      "decompose=1,dist_n=1,dist_oh=1,dist_ow=14,dist_f=32,vec_oh=1,vec_ow=7,vec_f=16,red_kh=1,"
      "red_kw=1,red_c=8,peel=0");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto attributes = llvm_cpu_convolution_attributes(root, space, *configuration);
  ASSERT_TRUE(attributes) << attributes.error().message;
  EXPECT_EQ(attributes->lowering_config,
            "#iree_cpu.lowering_config<distribution = [1, 1, 14, 32, 0, 0, 0], "
            "vector_common_parallel = [1, 1, 7, 16, 0, 0, 0], vector_reduction = [0, 0, 0, 0, 1, "
            "1, 8]>");
  EXPECT_EQ(attributes->translation_info, kDecomposing);
}

// IREE gives a convolution of one image its batch loop back after it has applied specs: the spec
// has to do that first, and so must not promise to be one foreach_match.
TEST(LlvmCpuConvolutionSpec, RestoresTheBatchLoopBeforeItMatches) {
  const auto text = [](std::int64_t images) {
    return tuning_spec_text(
               {{nhwc_convolution(images, 14, 14, 32, 3, 3, 16), "#a", "#b", "", "", "name"}}, "")
        .value();
  };
  EXPECT_THAT(text(1), HasSubstr("insert-batch-dim-for-batchless-conv"));
  EXPECT_THAT(text(1), testing::Not(HasSubstr("tuning_spec_with_default_entrypoint")));
  EXPECT_THAT(text(2), testing::Not(HasSubstr("insert-batch-dim-for-batchless-conv")));
  EXPECT_THAT(text(2), HasSubstr("tuning_spec_with_default_entrypoint"));
}

}  // namespace
}  // namespace hone::iree
