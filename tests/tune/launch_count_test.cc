#include <gmock/gmock.h>

#include "tune/program/program_calls.h"
#include "tune/services/select_dispatches.h"

namespace hone::tune {
namespace {

problem::Dispatch launched(const std::string& name, int places, bool varies) {
  problem::Dispatch dispatch;
  dispatch.name = name;
  dispatch.launches_per_call = places;
  dispatch.launched_by = {{"main", places}};
  dispatch.launches_vary = varies;
  return dispatch;
}

std::vector<int> launches_in(const problem::Program& program) {
  std::vector<int> launches;
  for (const problem::Dispatch& dispatch : program.dispatches)
    launches.push_back(dispatch.launches_per_call);
  return launches;
}

// A loop of 24 turns with two launch sets of one kernel, two places of one and one of the other.
TEST(LaunchCount, IsThatOfTheCallWhereALoopDecides) {
  problem::Program program;
  program.dispatches = {launched("straight", 2, false), launched("step", 2, true),
                        launched("step", 1, true), launched("other arm", 1, true)};
  take_launches({{"straight", 2, 1e-6}, {"step", 72, 1e-3}}, program);
  EXPECT_THAT(launches_in(program), testing::ElementsAre(2, 48, 24, 0));
  EXPECT_EQ(why_not_launched(program, program.dispatches[1]), "");
  EXPECT_THAT(why_not_launched(program, program.dispatches[3]),
              testing::HasSubstr("a call with these inputs never launches it"));
}

TEST(LaunchCount, StaysWhereTheRuntimeNamesNoKernel) {
  problem::Program program;
  program.dispatches = {launched("step", 1, true)};
  take_launches({}, program);
  EXPECT_THAT(launches_in(program), testing::ElementsAre(1));
}

}  // namespace
}  // namespace hone::tune
