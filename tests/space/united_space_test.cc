#include <gmock/gmock.h>

#include <set>

#include "space/configuration.h"
#include "space/space.h"

namespace hone::space {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// tile in {1, 2, 4} with stages in {0, 1} where tile > 1; and tile in {4, 8} with splits in 1..3.
Space two() {
  SpaceBuilder first, second;
  const Expression tile = first.knob("tile", "", {1, 2, 4});
  const Expression stages = first.knob("stages", "", {0, 1});
  first.require("stages need a tile", "", stages == 0 || tile > 1);
  const Expression other = second.knob("tile", "", {4, 8});
  const Expression splits = second.knob("splits", "", {1, 2, 3});
  second.prefer("few splits", "more are slow", splits * other <= 16);
  return Space::unite("pipeline", "0: a, 1: b", {*first.build(), *second.build()});
}

std::string text(const Space& space, const Configuration& configuration) {
  return to_string(space, configuration);
}

TEST(UnitedSpace, CountsAndEnumeratesOnePartAfterTheOther) {
  const Space space = two();
  // 1 + 2 + 2, and 3 + 2.
  EXPECT_EQ(space.count().value, 10u);
  ASSERT_THAT(space.parts(), SizeIs(2));
  EXPECT_EQ(space.parts()[0].count().value, 5u);
  std::vector<std::string> all;
  Enumerator enumerator = space.enumerate();
  for (std::uint64_t i = 0; auto configuration = enumerator.next(); ++i) {
    EXPECT_EQ(*space.at(i), *configuration);
    EXPECT_TRUE(space.is_legal(*configuration));
    all.push_back(text(space, *configuration));
  }
  EXPECT_THAT(all, SizeIs(10));
  EXPECT_EQ(all.front(), "pipeline=0,tile=1,stages=0,splits=0");
  EXPECT_EQ(all.back(), "pipeline=1,tile=8,stages=0,splits=2");
  EXPECT_FALSE(space.at(10));
}

TEST(UnitedSpace, SamplesEveryConfiguration) {
  const Space space = two();
  const auto samples = space.samples(10, 1);
  EXPECT_THAT(std::set<Configuration>(samples->begin(), samples->end()), SizeIs(10));
  std::mt19937_64 generator(1);
  std::set<Configuration> drawn;
  for (int i = 0; i < 400; ++i) drawn.insert(*space.sample(generator));
  EXPECT_THAT(drawn, SizeIs(10));
}

TEST(UnitedSpace, HasNeighboursInTheOtherPartWhereTheKnobsAreTheSame) {
  const Space space = two();
  const Configuration here = *parse_configuration(space, "pipeline=0,tile=4,stages=0,splits=0");
  std::vector<std::string> near;
  for (const Configuration& each : space.neighbours(here)) near.push_back(text(space, each));
  EXPECT_THAT(near, ElementsAre("pipeline=0,tile=1,stages=0,splits=0",
                                "pipeline=0,tile=2,stages=0,splits=0",
                                "pipeline=0,tile=4,stages=1,splits=0"));
}

TEST(UnitedSpace, SaysWhatIsWrong) {
  const Space space = two();
  const auto lacking =
      space.check(*parse_configuration(space, "pipeline=1,tile=4,stages=1,splits=1"));
  ASSERT_THAT(lacking, SizeIs(1));
  EXPECT_THAT(lacking[0].reason, HasSubstr("with pipeline = 1 there is no stages"));
  const auto soft = space.check(*parse_configuration(space, "pipeline=1,tile=8,stages=0,splits=3"));
  ASSERT_THAT(soft, SizeIs(1));
  EXPECT_EQ(soft[0].constraint, "few splits");
}

TEST(UnitedSpace, IsRelaxedPartByPart) {
  const Space space = two();
  EXPECT_EQ(space.relax({"few splits"})->count().value, 11u);
  EXPECT_EQ(space.relax({"all"})->count().value, 11u);
  EXPECT_FALSE(space.relax({"few split"}));
  EXPECT_FALSE(space.relax({"stages need a tile"}));
}

}  // namespace
}  // namespace hone::space
