// Spaces of what is no contraction, on the compiler's own IR: its default is one of their
// configurations, and what they call legal compiles and is applied.
#include <gmock/gmock.h>

#include <algorithm>

#include "provider/iree/cpu/space.h"
#include "provider/iree/spec/tuning_spec.h"
#include "space/configuration.h"
#include "tests/provider_iree/compiler.h"
#include "tests/provider_iree/row_programs.h"
#include "tests/provider_iree/stated_configuration.h"

namespace hone::iree {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

problem::CpuTarget two_cores() {
  problem::CpuTarget target;
  target.vector_bits = 512;
  target.vector_registers = 32;
  target.cores = 2;
  return target;
}

problem::Dispatch last_dispatch(const std::string& text) {
  return load("main", text).dispatches.back();
}

space::Space space_of(const problem::Dispatch& dispatch) {
  auto space = llvm_cpu_generic_space(dispatch, two_cores());
  if (!space) throw std::runtime_error(space.error().message);
  return std::move(*space);
}

space::Configuration default_of(const problem::Dispatch& dispatch, const space::Space& space) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < dispatch.root.loops.size(); ++i)
    labels.push_back(fmt::format("{}", i));
  return stated_configuration(dispatch, labels, space);
}

class GenericSpace : public testing::TestWithParam<RowProgram> {};

TEST_P(GenericSpace, HoldsTheCompilersOwnConfiguration) {
  const problem::Dispatch dispatch = last_dispatch(GetParam().text);
  EXPECT_EQ(dispatch.not_tunable, "");
  const space::Space space = space_of(dispatch);
  const space::Configuration configuration = default_of(dispatch, space);
  for (const space::Violation& violation : space.check(configuration))
    EXPECT_EQ(violation.hardness, space::Hardness::kSoft) << violation.reason;
}

// Compiled beside its neighbours' configurations, the default is the code of the compiler's own
// choice: hone gives every operation what the compiler gives it.
TEST_P(GenericSpace, GivesTheCompilersOwnCodeForItsConfiguration) {
  const problem::Dispatch dispatch = last_dispatch(GetParam().text);
  const space::Space space = space_of(dispatch);
  const space::Configuration configuration = default_of(dispatch, space);
  PreparedDispatch prepared = prepare(dispatch);
  const auto chosen = prepared.compile(std::nullopt);
  const auto stated =
      prepared.compile(*llvm_cpu_generic_attributes(dispatch, space, configuration));
  ASSERT_TRUE(chosen) << chosen.error().message;
  ASSERT_TRUE(stated) << stated.error().message;
  EXPECT_TRUE(chosen->code == stated->code);
}

TEST_P(GenericSpace, SamplesCompileAndAreApplied) {
  const problem::Dispatch dispatch = last_dispatch(GetParam().text);
  const space::Space space = space_of(dispatch);
  PreparedDispatch prepared = prepare(dispatch);
  const auto samples = space.samples(20, 1);
  ASSERT_TRUE(samples) << samples.error().message;
  for (const space::Configuration& configuration : *samples) {
    const auto attributes = llvm_cpu_generic_attributes(dispatch, space, configuration);
    ASSERT_TRUE(attributes) << attributes.error().message;
    const auto artifact = prepared.compile(*attributes);
    ASSERT_TRUE(artifact) << to_string(space, configuration) << ": "
                          << artifact.error().message.substr(0, 500);
    EXPECT_EQ(artifact->configured, attributes->lowering_config);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, GenericSpace, testing::ValuesIn(row_programs()),
                         [](const auto& program) { return program.param.name; });

// A softmax is taken apart: the maxima and the fills feed the sum, the division reads it.
TEST(GenericSpace, KnowsThePartsOfASoftmax) {
  const problem::Dispatch dispatch = last_dispatch(softmax_program());
  EXPECT_EQ(dispatch.root.name, "linalg.softmax");
  std::vector<std::string> parts;
  for (const problem::SurroundingOperation& each : dispatch.surrounding)
    parts.push_back(fmt::format("{} from {} operand {} walks {}", each.name, each.from,
                                each.operand, fmt::join(each.root_loops, ",")));
  EXPECT_THAT(parts, ElementsAre("linalg.generic from -1 operand 1 walks 0,1",
                                 "linalg.fill from -1 operand 2 walks 0",
                                 "linalg.fill from 0 operand 1 walks 0",
                                 "linalg.generic from -1 operand -1 walks 0,1"));
  EXPECT_TRUE(can_match(matched_root(dispatch.root, dispatch.surrounding)));
  const space::Space space = space_of(dispatch);
  const auto configuration =
      space::parse_configuration(space, "dist_0=32,vec_0=8,red_1=16,inner_1=32,peel=0");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto attributes = llvm_cpu_generic_attributes(dispatch, space, *configuration);
  EXPECT_EQ(attributes->lowering_config,
            "#iree_cpu.lowering_config<distribution = [32, 0], vector_common_parallel = [8, 0], "
            "vector_reduction = [0, 16]>");
  EXPECT_THAT(attributes->surrounding_configs,
              ElementsAre("#iree_cpu.lowering_config<vector_common_parallel = [8, 0], "
                          "vector_reduction = [0, 16]>",
                          "#iree_cpu.lowering_config<vector_common_parallel = [8]>",
                          "#iree_cpu.lowering_config<vector_common_parallel = [8]>",
                          "#iree_cpu.lowering_config<vector_common_parallel = [8, 0], "
                          "vector_inner_parallel = [0, 32]>"));
}

TEST(GenericSpace, RefusesAScalarResult) {
  problem::Dispatch dispatch = last_dispatch(sum_program());
  for (problem::Loop& loop : dispatch.root.loops) loop.reduction = true;
  EXPECT_THAT(llvm_cpu_generic_space(dispatch, two_cores()).error().message,
              HasSubstr("no loop to tile in parallel"));
}

}  // namespace
}  // namespace hone::iree
