// Specs for what is no contraction: the compiler finds the root and everything around it.
#include <gmock/gmock.h>

#include "provider/iree/cpu/space.h"
#include "provider/iree/spec/tuning_spec.h"
#include "tests/provider_iree/compiler.h"
#include "tests/provider_iree/row_programs.h"
#include "tests/provider_spec/programs.h"

namespace hone::iree {
namespace {

// A spec of one sample of the last dispatch's space.
Result<std::string> sampled_spec(const problem::Dispatch& dispatch, Attributes& attributes) {
  const space::Space space = llvm_cpu_generic_space(dispatch, avx512_target()).value();
  const space::Configuration configuration = space.samples(1, 7).value().at(0);
  attributes = llvm_cpu_generic_attributes(dispatch, space, configuration).value();
  TuningSpecEntry entry{
      dispatch.root, attributes.lowering_config, attributes.translation_info, {}, {},
      dispatch.name};
  entry.surrounding = dispatch.surrounding;
  entry.surrounding_configs = attributes.surrounding_configs;
  return tuning_spec_text({entry});
}

class RowSpec : public testing::TestWithParam<RowProgram> {};

TEST_P(RowSpec, IsAppliedToTheRootAndToWhatIsAroundIt) {
  const RowProgram& program = GetParam();
  const problem::Dispatch dispatch = load("main", program.text).dispatches.back();
  Attributes attributes;
  const auto spec = sampled_spec(dispatch, attributes);
  ASSERT_TRUE(spec) << spec.error().message;
  const auto compiled = compile_with_spec(program.text, *spec);
  ASSERT_TRUE(compiled) << compiled.error().message;
  ASSERT_TRUE(compiled->succeeded) << compiled->words.substr(0, 1000) << *spec;
  ASSERT_FALSE(compiled->root_configs.empty());
  // The levels are the same; the compiler prints them in alphabetical order.
  EXPECT_EQ(*lowering_config_levels(compiled->root_configs.back()),
            *lowering_config_levels(attributes.lowering_config))
      << *spec;
  std::vector<std::string> fills;
  for (std::size_t i = 0; i < dispatch.surrounding.size(); ++i)
    if (dispatch.surrounding[i].name == "linalg.fill")
      fills.push_back(attributes.surrounding_configs[i]);
  EXPECT_THAT(compiled->fill_configs, testing::UnorderedElementsAreArray(fills)) << *spec;
}

INSTANTIATE_TEST_SUITE_P(Programs, RowSpec, testing::ValuesIn(row_programs()),
                         [](const auto& program) { return program.param.name; });

// O3 puts the two sums of a layer norm and what reads them into one dispatch. The first sum looks
// like the one that the spec was made for, but has readers that it says nothing about.
TEST(RowSpec, LeavesASumAloneThatHasReaders) {
  const problem::Dispatch dispatch = load("main", sum_program()).dispatches.back();
  Attributes attributes;
  const std::string spec = sampled_spec(dispatch, attributes).value();
  const std::string block = example("attention_block.mlir");
  const auto with = compile_with_spec(block, spec, {"--iree-opt-level=O3"});
  const auto without = compile_with_spec(block, "", {"--iree-opt-level=O3"});
  ASSERT_TRUE(with && without);
  EXPECT_TRUE(with->succeeded) << with->words;
  EXPECT_EQ(with->root_configs, without->root_configs);
}

}  // namespace
}  // namespace hone::iree
