// Specs of hone's merged into one: iree-compile applies the entries of each.
#include "provider/iree/spec/merged_spec.h"

#include <gmock/gmock.h>

#include "provider/iree/cpu/space.h"
#include "provider/iree/spec/parsed_module.h"
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
using ::testing::StartsWith;

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

// Links specs without a default entry point as IREE does: one module with a module of each, which
// its entry point runs in turn.
std::string linked(std::vector<std::string> specs) {
  const CompilerSession session = CompilerSession::create(compiler(), {}).value();
  std::string head, text = "module attributes {transform.with_named_sequence} {\n";
  for (std::size_t i = 0; i < specs.size(); ++i) {
    std::string& spec = specs[i];
    const std::string attribute = ", iree_codegen.tuning_spec_with_default_entrypoint";
    if (const auto at = spec.find(attribute); at != std::string::npos)
      spec.erase(at, attribute.size());
    const std::size_t module = spec.find("module");
    head += spec.substr(0, module);  // comments, or aliases of attributes
    text += fmt::format("module @part_{} {}\n", i, spec.substr(module + 6));
  }
  const OwnedModule module = linked_specs(session, "linked.mlir", head + text + "}\n").value();
  return Ir(session.api()).text(module.get());
}

// The compiler runs linked specs in turn, and what the last one sets stays.
TEST(MergedSpec, FlattensALinkedSpecWithItsLastModuleFirst) {
  const ContractionProgram both = matmul_program(128, 256, 128), one = matmul_program(64, 256, 96);
  const std::string chain =
      linked({product_spec(both, "64"), product_spec(one, "32"), product_spec(both, "32")});
  ASSERT_THAT(chain, HasSubstr("transform.include @part_2::@__kernel_config_3"));
  const MergedSpec merged = merge_specs(compiler(), {{"chain.mlir"}, {chain}}).value();
  EXPECT_THAT(merged.text, AllOf(HasSubstr("iree_codegen.tuning_spec_with_default_entrypoint"),
                                 Not(HasSubstr("transform.include"))));
  ASSERT_EQ(merged.entries.size(), 3u);
  EXPECT_THAT(merged.entries[0].matcher, StartsWith("part_2::@match_"));
  EXPECT_THAT(merged.entries[1].matcher, StartsWith("part_1::@match_"));
  EXPECT_EQ(merged.entries[2].behind, 0);
  EXPECT_GT(merged.entries[1].line, 0);
  for (const ContractionProgram* program : {&both, &one})
    EXPECT_EQ(configured(program->text, merged.text), configured(program->text, chain));
  EXPECT_EQ(configured(both.text, merged.text), configured(both.text, product_spec(both, "32")));
}

// A linked file that was linked again with a third spec, and merged with a plain one.
TEST(MergedSpec, FlattensALinkedSpecInsideAnother) {
  const ContractionProgram program = matmul_program(128, 256, 128),
                           other = matmul_program(64, 256, 96);
  const std::string chain =
      linked({linked({product_spec(program, "32"), product_spec(other, "32")}),
              product_spec(other, "64")});
  const std::string plain = product_spec(matmul_program(32, 256, 96), "32");
  const MergedSpec merged =
      merge_specs(compiler(), {{"plain.mlir", "chain.mlir"}, {plain, chain}}).value();
  ASSERT_EQ(merged.entries.size(), 4u);
  EXPECT_THAT(merged.entries[1].matcher, StartsWith("part_1::@match_"));
  EXPECT_THAT(merged.entries[2].matcher, StartsWith("part_0::@part_1::@match_"));
  EXPECT_EQ(merged.entries[2].behind, 1);
  EXPECT_THAT(merged.entries[3].matcher, StartsWith("part_0::@part_0::@match_"));
  for (const ContractionProgram* each : {&program, &other})
    EXPECT_EQ(configured(each->text, merged.text), configured(each->text, chain));
}

TEST(MergedSpec, RefusesALinkedSpecWhoseLaterEntriesLeaveAnAttribute) {
  const std::string spec = product_spec(matmul_program(128, 256, 128), "64");
  std::string first = spec;
  const std::string last = "    transform.yield\n";
  const std::size_t end = first.find(last, first.find("@apply_"));
  ASSERT_NE(end, std::string::npos);
  first.insert(end, "    transform.annotate %root \"mine\" : !transform.any_op\n");
  const auto merged = merge_specs(compiler(), {{"chain.mlir"}, {linked({first, spec})}});
  ASSERT_FALSE(merged);
  EXPECT_THAT(merged.error().message,
              AllOf(HasSubstr("'chain.mlir': @part_0::@apply_"), HasSubstr("mine"),
                    HasSubstr("a later spec does not overwrite")));
  EXPECT_TRUE(merge_specs(compiler(), {{"chain.mlir"}, {linked({spec, first})}}));
}

}  // namespace
}  // namespace hone::iree
