#include "session/list_results.h"

#include <gtest/gtest.h>

namespace hone::session {
namespace {

store::VerificationRow within(std::optional<double> absolute, std::optional<double> relative) {
  return {.right = true,
          .tolerance = "some text",
          .absolute_tolerance = absolute,
          .relative_tolerance = relative};
}

TEST(CheckedWords, FollowFromTheNumbers) {
  EXPECT_EQ(checked_words(within(0, 0)), "exact");
  EXPECT_EQ(checked_words(within(1.0 / 3, 0)), "within absolute 0.333, relative 0");
  EXPECT_EQ(checked_words(within(0, 1e-5)), "within absolute 0, relative 1e-05");
}

TEST(CheckedWords, AreADashWhereTheStoreDoesNotSay) {
  EXPECT_EQ(checked_words(within({}, {})), "-");
  EXPECT_EQ(checked_words(std::nullopt), "-");
}

}  // namespace
}  // namespace hone::session
