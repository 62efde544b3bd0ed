#include <gtest/gtest.h>

#include "tune/dispatch/dispatch_search.h"

namespace hone::tune {
namespace {

TEST(TimeLeft, OfASearchItsTimeTheFinalistsAndTheOtherDispatches) {
  // 60 s for this one, 45 of them for searching: 30 are left, then 15, then the others.
  EXPECT_EQ(seconds_left({.searching = 30, .comparing = 15, .after = 120}), 30 + 15 + 120);
}

TEST(TimeLeft, ASmallPlanEndsASearchBeforeItsTime) {
  EXPECT_EQ(
      seconds_left({.searching = 30, .per_candidate = 0.5, .candidates = 10, .comparing = 15}),
      10 * 0.5 + 15);
  EXPECT_EQ(seconds_left({.searching = 30, .per_candidate = 0.5, .candidates = 1000}), 30);
  EXPECT_EQ(seconds_left({.searching = 30, .per_candidate = 0.5, .candidates = 0}), 0);
}

TEST(TimeLeft, IsNeverNegative) {
  EXPECT_EQ(seconds_left({.searching = -4, .comparing = -1}), 0);
  EXPECT_EQ(seconds_left({.searching = -4, .comparing = 15}), 15);
  EXPECT_EQ(
      seconds_left(
          {.searching = -4, .per_candidate = 1, .candidates = 5, .comparing = -1, .after = 20}),
      20);
}

}  // namespace
}  // namespace hone::tune
