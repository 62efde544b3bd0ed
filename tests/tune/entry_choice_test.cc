#include <gmock/gmock.h>

#include "tune/program/build.h"

namespace hone::tune {
namespace {

using testing::ElementsAre;
using V = measure::Verdict;

measure::PairedComparison whole(V verdict, double ratio) {
  measure::PairedComparison comparison;
  comparison.verdict = verdict;
  comparison.ratio = ratio;
  return comparison;
}

TEST(KeptEntries, OfASpecThatHelpsAreAllThatDoNotHurt) {
  EXPECT_THAT(
      kept_entries(std::vector{V::kFaster, V::kNoDifferent, V::kSlower}, whole(V::kFaster, 0.8)),
      ElementsAre(true, true, false));
}

TEST(KeptEntries, OfASpecThatDoesNotHelpAreThoseThatDo) {
  EXPECT_THAT(
      kept_entries(std::vector{V::kFaster, V::kNoDifferent, V::kSlower}, whole(V::kNoDifferent, 1)),
      ElementsAre(true, false, false));
}

// A MobileNet-like block: six kernels 1.1 to 2 times as fast, the program 1.2 [1.04, 1.44]; of each
// entry alone the noise leaves nothing, but one that hurts.
TEST(KeptEntries, OfAGainThatIsCertainOnlyAsAWholeAreAllThatDoNotHurt) {
  EXPECT_THAT(kept_entries(std::vector{V::kNoDifferent, V::kNoDifferent, V::kSlower},
                           whole(V::kFaster, 0.8)),
              ElementsAre(true, true, false));
}

TEST(KeptEntries, AreNoneWhereTheWholeIsNotFaster) {
  EXPECT_THAT(
      kept_entries(std::vector{V::kNoDifferent, V::kNoDifferent}, whole(V::kNoDifferent, 0.99)),
      ElementsAre(false, false));
}

// As of MobileNetV2 on a noisy machine: fourteen entries, none of which twelve rounds could tell
// from nothing, nor all together.
TEST(KeptEntries, OfAGainThatSeemsToBeThereAreLeftToTheProof) {
  EXPECT_THAT(kept_entries(std::vector{V::kNoDifferent, V::kNoDifferent, V::kSlower},
                           whole(V::kNoDifferent, 0.87)),
              ElementsAre(true, true, false));
}

TEST(GroupsOfEntries, AreOfNearlyEqualSizeAndInOrder) {
  EXPECT_THAT(groups_of(3, 8), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(groups_of(5, 2), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4)));
  EXPECT_THAT(groups_of(0, 8), ElementsAre());
}

}  // namespace
}  // namespace hone::tune
