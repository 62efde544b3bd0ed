#include <gtest/gtest.h>

#include "base/text.h"

namespace hone {
namespace {

TEST(CommonReason, SaysTheMostFrequentOneByItsMostFrequentWords) {
  CommonReason reasons;
  EXPECT_EQ(reasons.words(), "");
  for (int i = 0; i < 3; ++i)
    reasons.add("compile error", "stack 49152 B, limit 32768 B\ndispatch:1:1: 'func.func' op");
  reasons.add("compile error", "stack 65536 B, limit 32768 B");
  for (int i = 0; i < 3; ++i) reasons.add("kernel crash", "SIGSEGV");
  EXPECT_EQ(reasons.count(), 7u);
  EXPECT_EQ(reasons.words(), "4 of 7 failed candidates: stack 49152 B, limit 32768 B");
}

TEST(CommonReason, NamesTheKindThatIsNotOfTheCompiler) {
  CommonReason reasons;
  reasons.add("kernel crash", "SIGSEGV");
  EXPECT_EQ(reasons.words(), "1 of 1 failed candidates: kernel crash: SIGSEGV");
}

TEST(CommonReason, NamesTheKindWhereThereAreNoWords) {
  CommonReason reasons;
  reasons.add("wrong", "");
  EXPECT_EQ(reasons.words(), "1 of 1 failed candidates: wrong");
}

TEST(WithoutNumbers, IsEqualForWhatDiffersInNumbersOnly) {
  EXPECT_EQ(without_numbers("stack 49152 B, limit 32768 B"), "stack # B, limit # B");
  EXPECT_EQ(without_numbers("no numbers"), "no numbers");
}

}  // namespace
}  // namespace hone
