#include "plan/shards.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hone::plan {
namespace {

using testing::ElementsAre;

TEST(Shards, APartIsReadAsItIsWritten) {
  for (const char* text : {"3/16", "1/1", "flags", "proof"}) {
    const Result<Part> part = read_part(text);
    ASSERT_TRUE(part) << text;
    EXPECT_EQ(to_string(*part), text);
  }
  EXPECT_EQ(to_string(Part{}), "");
}

TEST(Shards, ANumberBeyondTheShardsIsRefused) {
  for (const char* text :
       {"0/16", "17/16", "3", "3/", "/3", "-1/4", "3/0", "a/b", "3/16/2", "1/200000", ""}) {
    const Result<Part> part = read_part(text);
    ASSERT_FALSE(part) << text;
    EXPECT_EQ(part.error().kind, ErrorKind::kInput);
  }
  EXPECT_THAT(read_part("17/16").error().message, testing::HasSubstr("17/16"));
}

// 7, 5, 4, 3 and 1: the longest first gives 7 + 3 and 5 + 4 + 1.
TEST(Shards, TheLongestWorkGoesFirstToWhoHasLeast) {
  const std::vector<ShardItem> items{{"a", 3}, {"b", 7}, {"c", 1}, {"d", 5}, {"e", 4}};
  EXPECT_THAT(shards_of(items, 2), ElementsAre(0, 0, 1, 1, 1));
}

TEST(Shards, TheOrderOfTheItemsDoesNotMatter) {
  std::vector<ShardItem> items;
  for (int i = 0; i < 100; ++i)
    items.push_back({"d" + std::to_string(i), static_cast<double>(i % 7)});
  const std::vector<std::size_t> shards = shards_of(items, 8);
  std::vector<ShardItem> reversed(items.rbegin(), items.rend());
  std::vector<std::size_t> again = shards_of(reversed, 8);
  std::ranges::reverse(again);
  EXPECT_EQ(again, shards);
}

// They share their results: two processes would measure the same.
TEST(Shards, EqualWorkStaysTogether) {
  const std::vector<std::size_t> shards =
      shards_of({{"same", 5}, {"other", 1}, {"same", 5}, {"third", 1}}, 2);
  EXPECT_EQ(shards[0], shards[2]);
  EXPECT_EQ(shards[1], shards[3]);
  EXPECT_NE(shards[0], shards[1]);
}

TEST(Shards, MoreShardsThanWorkLeaveSomeEmpty) {
  EXPECT_THAT(shards_of({{"a", 2}, {"b", 1}}, 16), ElementsAre(0, 1));
  EXPECT_TRUE(shards_of({}, 16).empty());
}

TEST(Shards, TheProgressOfAPartIsReadBack) {
  PartProgress progress{.part = "1/2", .split = "abc", .device = "a CPU"};
  progress.dispatches.push_back({.name = "matmul", .expected_seconds = 3});
  progress.dispatches.push_back({.name = "conv", .failure = "it does not compile"});
  EXPECT_EQ(nlohmann::json(progress).get<PartProgress>(), progress);
  EXPECT_FALSE(progress.dispatches[0].is_done());
  EXPECT_TRUE(progress.dispatches[1].is_done());
}

}  // namespace
}  // namespace hone::plan
