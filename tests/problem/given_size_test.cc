#include "problem/given_size.h"

#include <gtest/gtest.h>

namespace hone::problem {
namespace {

std::string words(const std::vector<std::string>& texts) {
  const auto sizes = given_sizes(texts);
  return sizes ? "fine" : sizes.error().message;
}

TEST(GivenSizes, AreNamesAndSizes) {
  const auto sizes = given_sizes({"M=512", "input1.0=7"});
  ASSERT_TRUE(sizes) << sizes.error().message;
  EXPECT_EQ(*sizes, (std::vector<GivenSize>{{"M", 512}, {"input1.0", 7}}));
}

TEST(GivenSizes, SaysWhatIsWrong) {
  EXPECT_EQ(words({"M"}), "--dim 'M' is not NAME=SIZE, as in --dim M=512");
  EXPECT_EQ(words({"=3"}), "--dim '=3' is not NAME=SIZE, as in --dim M=512");
  EXPECT_EQ(words({"M=0"}), "--dim M=0: '0' is no size from 1 to 1099511627776");
  EXPECT_EQ(words({"M=12x"}), "--dim M=12x: '12x' is no size from 1 to 1099511627776");
  EXPECT_EQ(words({"M=1", "M=2"}), "--dim M=2: 'M' has a size already");
  EXPECT_EQ(
      words({"M=1,16,512"}),
      "several sizes of 'M': hone tune takes them, where it measures; run this once for each");
}

TEST(GivenSizeSets, AreOneForEachOfSeveralSizes) {
  const auto sets = given_size_sets({"N=7", "M=1,16", "input1.0=3"});
  ASSERT_TRUE(sets) << sets.error().message;
  EXPECT_EQ(*sets, (std::vector<SizeSet>{{{"N", 7}, {"M", 1}, {"input1.0", 3}},
                                         {{"N", 7}, {"M", 16}, {"input1.0", 3}}}));
  EXPECT_EQ(to_string(sets->back()), "N=7, M=16, input1.0=3");
}

TEST(GivenSizeSets, AreOneWhereNothingIsGiven) {
  EXPECT_EQ(*given_size_sets({}), std::vector<SizeSet>{SizeSet()});
}

TEST(GivenSizeSets, SaysWhatIsWrong) {
  const auto words = [](const std::vector<std::string>& texts) {
    const auto sets = given_size_sets(texts);
    return sets ? "fine" : sets.error().message;
  };
  EXPECT_EQ(words({"M=1,16,1"}), "--dim M=1,16,1: 1 is there twice");
  EXPECT_EQ(words({"M=1,"}), "--dim M=1,: '' is no size from 1 to 1099511627776");
  EXPECT_EQ(words({"M=1,2", "N=3,4"}),
            "--dim N=3,4: 'M' has several sizes already, and only one name may");
}

}  // namespace
}  // namespace hone::problem
