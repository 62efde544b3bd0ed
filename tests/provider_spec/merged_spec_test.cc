// Specs of hone's merged into one: iree-compile applies the entries of each.
#include "provider/iree/spec/merged_spec.h"

#include <gmock/gmock.h>

#include "provider/iree/cpu/space.h"
#include "provider/iree/spec/tuning_spec.h"
#include "space/configuration.h"
#include "tests/provider/convolutions.h"
#include "tests/provider_iree/compiler.h"
#include "tests/provider_spec/programs.h"

namespace hone::iree {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string product_spec(const ContractionProgram& program, const std::string& rows) {
  const space::Space space =
      llvm_cpu_contraction_space(program.root, avx512_target()).value().relax({"all"}).value();
  const auto configuration =
      space::parse_configuration(space, "dist_m=" + rows +
                                            ",dist_n=128,cache_m=0,cache_n=64,cache_k=32,vec_m=8,"
                                            "vec_n=32,red_k=4,peel=0")
          .value();
  const Attributes attributes =
      llvm_cpu_contraction_attributes(program.root, space, configuration).value();
  return tuning_spec_text({{program.root, attributes.lowering_config, attributes.translation_info,
                            attributes.init_config, attributes.consumer_config, program.name}},
                          "made by hone")
      .value();
}

// Its entry point restores the batch loop before it matches.
std::string convolution_spec(const ConvolutionProgram& program) {
  const problem::Dispatch dispatch = load(program.name, program.text).dispatches.at(0);
  EXPECT_TRUE(has_restored_batch(dispatch.root));
  const space::Space space = llvm_cpu_convolution_space(dispatch.root, avx512_target()).value();
  const auto attributes =
      llvm_cpu_convolution_attributes(dispatch.root, space, space.samples(1, 1).value().at(0))
          .value();
  return tuning_spec_text({{dispatch.root, attributes.lowering_config, attributes.translation_info,
                            "", "", program.name}})
      .value();
}

std::vector<std::string> configured(const std::string& program, const std::string& spec) {
  const Compiled compiled = compile_with_spec(program, spec).value();
  EXPECT_TRUE(compiled.succeeded) << compiled.words;
  return compiled.root_configs;
}

TEST(MergedSpec, AppliesTheEntriesOfEachOfHonesSpecs) {
  const ContractionProgram one = matmul_program(128, 256, 128), other = matmul_program(64, 256, 96);
  const std::string first = product_spec(one, "64"), second = product_spec(other, "32");
  const MergedSpec merged =
      merge_specs(compiler(), {{"one.mlir", "other.mlir"}, {first, second}}).value();
  EXPECT_THAT(merged.text, HasSubstr("iree_codegen.tuning_spec_with_default_entrypoint"));
  EXPECT_EQ(configured(one.text, merged.text), configured(one.text, first));
  EXPECT_EQ(configured(other.text, merged.text), configured(other.text, second));
  EXPECT_EQ(merged.entries[1].matches, "contraction f32 x f32 -> f32, m 64, n 256, k 96");
}

TEST(MergedSpec, PrefersTheFirstOfTwoThatDisagree) {
  const ContractionProgram program = matmul_program(128, 256, 128);
  const std::string first = product_spec(program, "64"), second = product_spec(program, "32");
  const MergedSpec merged =
      merge_specs(compiler(), {{"a.mlir", "b.mlir", "c.mlir"}, {second, first, second}}).value();
  ASSERT_EQ(merged.entries.size(), 3u);
  EXPECT_FALSE(merged.entries[0].behind);
  EXPECT_EQ(merged.entries[1].behind, 0);
  EXPECT_FALSE(merged.entries[1].repeated);
  EXPECT_EQ(merged.entries[2].behind, 0);
  EXPECT_TRUE(merged.entries[2].repeated);
  EXPECT_NE(configured(program.text, first), configured(program.text, second));
  EXPECT_EQ(configured(program.text, merged.text), configured(program.text, second));
}

TEST(MergedSpec, RestoresTheBatchLoopIfASpecDoes) {
  const ContractionProgram product = matmul_program(128, 256, 128);
  const ConvolutionProgram convolution = nhwc_program(1);
  const std::string first = product_spec(product, "64"), second = convolution_spec(convolution);
  const MergedSpec merged =
      merge_specs(compiler(), {{"product.mlir", "image.mlir"}, {first, second}}).value();
  EXPECT_THAT(merged.restore_batch, ElementsAre("image.mlir"));
  EXPECT_THAT(merged.text, AllOf(HasSubstr(kBatchRestoringPass),
                                 Not(HasSubstr("tuning_spec_with_default_entrypoint"))));
  EXPECT_EQ(configured(convolution.text, merged.text), configured(convolution.text, second));
  EXPECT_EQ(configured(product.text, merged.text), configured(product.text, first));
}

}  // namespace
}  // namespace hone::iree
