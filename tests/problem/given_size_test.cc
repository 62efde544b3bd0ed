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
  EXPECT_EQ(words({"M=1,16,512"}),
            "--dim M=1,16,512: one run is for one size of 'M'; run hone once for each, with the "
            "same --store");
}

}  // namespace
}  // namespace hone::problem
