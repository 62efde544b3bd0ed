// Specs for what is no contraction: the compiler finds the root and everything around it.
#include <gmock/gmock.h>

#include "provider/iree/llvm_cpu_generic_space.h"
#include "provider/iree/llvm_cpu_lowering_config.h"
#include "provider/iree/tuning_spec.h"
#include "tests/provider_iree/compiler.h"
#include "tests/provider_iree/row_programs.h"
#include "tests/provider_spec/programs.h"

namespace hone::iree {
namespace {

class RowSpec : public testing::TestWithParam<RowProgram> {};

TEST_P(RowSpec, IsAppliedToTheRootAndToWhatIsAroundIt) {
  const RowProgram& program = GetParam();
  const problem::Dispatch dispatch = load("main", program.text).dispatches.back();
  const space::Space space = llvm_cpu_generic_space(dispatch, avx512_target()).value();
  const space::Configuration configuration = space.samples(1, 7).value().at(0);
  const auto attributes = llvm_cpu_generic_attributes(dispatch, space, configuration).value();
  SpecEntry entry{dispatch.root, attributes.lowering_config, attributes.translation_info, {}, {},
                  dispatch.name};
  entry.neighbours = dispatch.neighbours;
  entry.neighbour_configs = attributes.neighbour_configs;
  const auto spec = tuning_spec_text({entry});
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
  for (std::size_t i = 0; i < dispatch.neighbours.size(); ++i)
    if (dispatch.neighbours[i].name == "linalg.fill")
      fills.push_back(attributes.neighbour_configs[i]);
  EXPECT_THAT(compiled->fill_configs, testing::UnorderedElementsAreArray(fills)) << *spec;
}

INSTANTIATE_TEST_SUITE_P(Programs, RowSpec, testing::ValuesIn(row_programs()),
                         [](const auto& program) { return program.param.name; });

}  // namespace
}  // namespace hone::iree
