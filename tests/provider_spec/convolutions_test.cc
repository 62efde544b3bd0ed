// The compiler's word on the space of convolutions: its own configuration is in it, and what hone
// calls legal compiles and is applied through a spec.
#include "tests/provider/convolutions.h"

#include <gtest/gtest.h>

#include "provider/iree/cpu/loops.h"
#include "provider/iree/cpu/space.h"
#include "provider/iree/spec/tuning_spec.h"
#include "space/configuration.h"
#include "tests/provider_iree/compiler.h"
#include "tests/provider_iree/stated_configuration.h"
#include "tests/provider_spec/programs.h"

namespace hone::iree {
namespace {

struct Problem {
  problem::Dispatch dispatch;
  space::Space space;
};

Problem read(const ConvolutionProgram& given) {
  problem::Dispatch dispatch = load(given.name, given.text).dispatches.at(0);
  EXPECT_EQ(dispatch.not_tunable, "");
  auto space = llvm_cpu_convolution_space(dispatch.root, avx512_target());
  if (!space) throw std::runtime_error(space.error().message);
  return {std::move(dispatch), std::move(*space)};
}

class DefaultConfiguration : public testing::TestWithParam<ConvolutionProgram> {};

TEST_P(DefaultConfiguration, IsInTheSpaceOfConvolutions) {
  const Problem problem = read(GetParam());
  const problem::Dispatch& dispatch = problem.dispatch;
  const space::Space hard = problem.space.relax({"all"}).value();
  std::vector<std::string> labels;
  const ConvolutionLoops loops = convolution_loops(dispatch.root).value();
  for (const ContractionLoop& loop : loops.nest.loops) labels.push_back(loop.label);
  const space::Configuration stated = stated_configuration(dispatch, labels, hard);
  EXPECT_TRUE(hard.check(stated).empty()) << to_string(hard, stated);
}

class Convolutions : public testing::TestWithParam<ConvolutionProgram> {};

TEST_P(Convolutions, SampledConfigurationsCompileAndAreApplied) {
  const auto [dispatch, space] = read(GetParam());
  constexpr std::size_t kCount = 20;
  const auto samples = space.samples(kCount, 1).value();
  for (const space::Configuration& configuration : samples) {
    const auto attributes =
        llvm_cpu_convolution_attributes(dispatch.root, space, configuration).value();
    const std::string spec =
        tuning_spec_text({{dispatch.root, attributes.lowering_config, attributes.translation_info,
                           "", "", GetParam().name}},
                         "")
            .value();
    const auto compiled = compile_with_spec(GetParam().text, spec);
    ASSERT_TRUE(compiled.has_value()) << compiled.error().message;
    EXPECT_TRUE(compiled->succeeded) << to_string(space, configuration) << compiled->words;
    ASSERT_EQ(compiled->root_configs.size(), 1u) << to_string(space, configuration);
    EXPECT_EQ(*lowering_config_levels(compiled->root_configs[0]),
              *lowering_config_levels(attributes.lowering_config));
    EXPECT_EQ(compiled->translation_infos.at(0), attributes.translation_info);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Convolutions,
                         testing::Values(nhwc_program(1), nhwc_program(2, 2), nchw_program(2),
                                         depthwise_program(1), grouped_program()),
                         [](const auto& program) { return program.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Programs, DefaultConfiguration,
    testing::Values(nhwc_program(1), nhwc_program(2), nhwc_program(2, 2), nchw_program(1),
                    nchw_program(2), depthwise_program(1), depthwise_program(2), grouped_program(),
                    convolution_program("depthwise_chw", "depthwise_conv_2d_nchw_chw",
                                        "2x32x16x16xf32", "32x3x3xf32", "2x32x14x14xf32"),
                    convolution_program("filter_rows", "conv_2d_nhwc_fhwc", "2x16x16x16xf32",
                                        "32x3x3x16xf32", "2x14x14x32xf32"),
                    convolution_program("grouped_last", "conv_2d_nhwgc_gfhwc", "2x16x16x4x8xf32",
                                        "4x8x3x3x8xf32", "2x14x14x4x8xf32"),
                    convolution_program("line", "conv_1d_nwc_wcf", "2x18x16xf32", "3x16x32xf32",
                                        "2x16x32xf32", 1, 1),
                    convolution_program("bytes", "conv_2d_nhwc_hwcf", "2x16x16x16xi8",
                                        "3x3x16x32xi8", "2x14x14x32xi32"),
                    convolution_program("halves", "conv_2d_nhwc_hwcf", "2x16x16x16xf16",
                                        "3x3x16x32xf16", "2x14x14x32xf32"),
                    convolution_program("pooling", "pooling_nhwc_sum", "2x16x16x32xf32", "3x3xf32",
                                        "2x14x14x32xf32")),
    [](const auto& program) { return program.param.name; });

}  // namespace
}  // namespace hone::iree
