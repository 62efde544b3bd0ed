#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "base/hash.h"

namespace hone {
namespace {

TEST(SystemRandom, NamesAreSixteenDigitsAndNew) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(system_random_name());
  EXPECT_EQ(names.size(), 1000u);  // of 2^64 one is drawn twice once in 4e13 such tests
  EXPECT_THAT(names, ::testing::Each(::testing::MatchesRegex("[0-9a-f]{16}")));
}

TEST(SystemRandom, FillsEveryByte) {
  // Sixteen draws leave a given byte 0 each time once in 2^128.
  std::array<std::byte, 256> seen{};
  for (int draw = 0; draw < 16; ++draw) {
    std::array<std::byte, 256> drawn{};
    fill_with_system_random(drawn);
    for (std::size_t i = 0; i < seen.size(); ++i) seen[i] |= drawn[i];
  }
  EXPECT_THAT(seen, ::testing::Not(::testing::Contains(std::byte{0})));
}

}  // namespace
}  // namespace hone
