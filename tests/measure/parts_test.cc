#include "measure/parts.h"

#include <gmock/gmock.h>

#include <utility>

namespace hone::measure {
namespace {

using testing::ElementsAre;
using testing::Pair;

const auto bounds = [](std::size_t begin, std::size_t end) { return std::pair(begin, end); };

TEST(InParts, WhatIsSmallIsOnePart) {
  EXPECT_THAT(in_parts(0, bounds), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(in_parts(100'000, bounds), ElementsAre(Pair(0, 100'000)));
}

TEST(InParts, TogetherTheyAreAll) {
  constexpr std::size_t kCount = 10'000'001;
  const auto parts = in_parts(kCount, bounds);
  EXPECT_EQ(parts.size(), std::min<std::size_t>(usable_cores(), kCount >> 18));
  std::size_t end = 0;
  for (const auto& part : parts) {
    EXPECT_EQ(part.first, end);
    EXPECT_EQ(part.first % 64, 0);
    EXPECT_GT(part.second, part.first);
    end = part.second;
  }
  EXPECT_EQ(end, kCount);
}

}  // namespace
}  // namespace hone::measure
