#include "base/text.h"

#include <gmock/gmock.h>

namespace hone {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearestNames, FindsASlipOfTheHandBestFirst) {
  const std::vector<std::string> options{"--candidates", "--budget", "--seed", "--store"};
  EXPECT_THAT(nearest_names("--candidate", options), ElementsAre("--candidates"));
  EXPECT_THAT(nearest_names("--sead", options), ElementsAre("--seed"));
  EXPECT_EQ(did_you_mean("--buget", options), " (did you mean '--budget'?)");
}

TEST(NearestNames, SaysNothingWhenNothingIsNear) {
  EXPECT_THAT(nearest_names("--frobnicate", {"--seed", "--store"}), IsEmpty());
  EXPECT_EQ(did_you_mean("--frobnicate", {"--seed"}), "");
}

TEST(NearestNames, OffersNamesThatContainWhatWasTyped) {
  EXPECT_THAT(nearest_names("matmul", {"main_dispatch_0_matmul_512x512x512_f32", "other"}),
              ElementsAre("main_dispatch_0_matmul_512x512x512_f32"));
}

TEST(MatchesPattern, TreatsStarAndQuestionMarkAsAShellDoes) {
  EXPECT_TRUE(matches_pattern("main_dispatch_0_matmul", "*matmul"));
  EXPECT_TRUE(matches_pattern("main_dispatch_0_matmul", "*dispatch_?_*"));
  EXPECT_TRUE(matches_pattern("", "*"));
  EXPECT_TRUE(matches_pattern("aab", "*ab"));
  EXPECT_FALSE(matches_pattern("main_dispatch_0_matmul", "matmul"));
  EXPECT_FALSE(matches_pattern("abc", "ab?d"));
}

TEST(FormatDuration, UsesTheUnitThatKeepsThreeDigitsReadable) {
  EXPECT_EQ(format_duration(0.00159), "1.59 ms");
  EXPECT_EQ(format_duration(2.5e-6), "2.5 us");
  EXPECT_EQ(format_duration(3.2e-8), "32 ns");
  EXPECT_EQ(format_duration(1.5), "1.5 s");
  EXPECT_EQ(format_duration(90), "1.5 min");
  EXPECT_EQ(format_duration(-0.00159), "-1.59 ms");
  EXPECT_EQ(format_duration(999.4e-6), "999 us");
  EXPECT_EQ(format_duration(999.6e-6), "1 ms");
}

TEST(Readable, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(readable("words"), "words");
  EXPECT_EQ(readable("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(readable("a\xff z"), "a\xef\xbf\xbd z");
  EXPECT_EQ(readable(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(FormatCount, SeparatesThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(132000), "132,000");
  EXPECT_EQ(format_count(1234567), "1,234,567");
}

}  // namespace
}  // namespace hone
