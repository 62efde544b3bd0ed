
#include <gmock/gmock.h>

#include "search/strategy.h"

namespace hone::search {
namespace {

using space::Configuration;

TEST(FailedFamilies, HaveAValueThatAllOfOneCauseShareAndNoneThatWorked) {
  FailedFamilies failed;
  // The first knob is a pipeline: 7 fails.
  failed.tell_worked({{1, 8, 8}});
  failed.tell_failed({{7, 8, 16}}, "layout");
  failed.tell_failed({{7, 16, 8}}, "layout");
  EXPECT_EQ(failed.count({{7, 32, 32}}), 0u);  // two may be an accident
  failed.tell_failed({{7, 64, 64}}, "layout");
  EXPECT_EQ(failed.count({{7, 32, 32}}), 1u);
  EXPECT_EQ(failed.count({{1, 32, 32}}), 0u);
  failed.tell_worked({{7, 4, 4}});
  EXPECT_EQ(failed.count({{7, 32, 32}}), 0u);
}

TEST(FailedFamilies, AreOfOneCause) {
  FailedFamilies failed;
  failed.tell_failed({{7, 8}}, "layout");
  failed.tell_failed({{7, 16}}, "stack");
  failed.tell_failed({{7, 32}}, "shared memory");
  EXPECT_EQ(failed.count({{7, 64}}), 0u);
}

// 32 x 64, 64 x 32 and 128 x 32 tiles are too large; neither value alone is: the product is.
TEST(FailedFamilies, HaveASizeFromWhichOnAllFailed) {
  FailedFamilies failed;
  failed.tell_failed({{32, 64}}, "stack");
  failed.tell_failed({{64, 32}}, "stack");
  failed.tell_failed({{128, 32}}, "stack");
  EXPECT_EQ(failed.count({{256, 256}}), 0u);  // so far no size is known to work
  failed.tell_worked({{8, 64}});
  failed.tell_worked({{128, 8}});
  failed.tell_worked({{16, 16}});
  EXPECT_EQ(failed.count({{8, 128}}), 0u);   // 1,024, as 128 x 8
  EXPECT_GT(failed.count({{16, 256}}), 0u);  // 4,096 > 2,048
  EXPECT_GT(failed.count({{256, 256}}), 0u);
}

// Tiles whose product is beyond 512 do not compile; the estimate likes the largest best.
class StackLimit : public testing::TestWithParam<const char*> {
 protected:
  static space::Space tiles() {
    space::SpaceBuilder builder;
    builder.knob("pipeline", "", {3});
    for (const char* name : {"m", "n", "k"}) builder.knob(name, "", {1, 2, 4, 8, 16, 32, 64, 128});
    return builder.build().value();
  }
  static bool fits(const Configuration& at) {
    return at.values[1] * at.values[2] * at.values[3] <= 512;
  }
};

TEST_P(StackLimit, IsLeftAfterAFewFailures) {
  const space::Space space = tiles();
  const auto strategy = make_strategy(GetParam(), space, 1, [](const Configuration& at) {
                          return -static_cast<double>(at.values[1] * at.values[2] * at.values[3]);
                        }).value();
  std::size_t tried = 0, worked = 0, of_last = 0;
  while (tried < 48) {
    for (const Configuration& each : strategy->ask(4)) {
      ++tried;
      if (fits(each)) ++worked;
      if (fits(each) && tried > 32) ++of_last;
      strategy->tell(each, {fits(each) ? std::optional(1.0 / static_cast<double>(each.values[1]))
                                       : std::nullopt,
                            "stack # B, limit # B"});
    }
  }
  EXPECT_GE(worked, 16u);
  EXPECT_GE(of_last, 10u);  // of 16
}

INSTANTIATE_TEST_SUITE_P(Strategies, StackLimit, testing::Values("prior", "local", "model"),
                         [](const auto& each) { return std::string(each.param); });

TEST(FamilyFilter, ProposesAWholeSpaceInTheEnd) {
  space::SpaceBuilder builder;
  builder.knob("a", "", {1, 2});
  builder.knob("b", "", {1, 2, 3, 4, 5, 6, 7, 8});
  const space::Space space = builder.build().value();
  const auto strategy = make_strategy("random", space, 1).value();
  std::set<Configuration> seen;
  for (auto some = strategy->ask(2); !some.empty(); some = strategy->ask(2))
    for (const Configuration& each : some) {
      EXPECT_TRUE(seen.insert(each).second);
      strategy->tell(each, std::nullopt);
    }
  EXPECT_EQ(seen.size(), 16u);
}

}  // namespace
}  // namespace hone::search
