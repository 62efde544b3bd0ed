#include <gtest/gtest.h>

#include "base/json.h"

namespace hone {
namespace {

using nlohmann::json;

template <class T>
bool is_refused(const json& value) {
  try {
    (void)exact<T>(value);
    return false;
  } catch (const json::exception&) {
    return true;
  }
}

TEST(ExactJson, TakesWhatIsInRange) {
  EXPECT_EQ(exact<int>(json(-2147483648)), -2147483647 - 1);
  EXPECT_EQ(exact<std::uint32_t>(json(4294967295u)), 4294967295u);
  EXPECT_EQ(exact<std::uint64_t>(json(18446744073709551615u)), 18446744073709551615u);
  EXPECT_EQ((exact<std::array<std::uint32_t, 3>>(json{1, 2, 3})),
            (std::array<std::uint32_t, 3>{1, 2, 3}));
}

// get<int>() would give 1, 2, 1, -1 and 1.
TEST(ExactJson, RefusesWhatWouldBeCutOrMadeUp) {
  EXPECT_TRUE(is_refused<int>(json(4294967297)));
  EXPECT_TRUE(is_refused<int>(json(2.5)));
  EXPECT_TRUE(is_refused<int>(json(true)));
  EXPECT_TRUE(is_refused<std::int64_t>(json(18446744073709551615u)));
  EXPECT_TRUE(is_refused<std::uint32_t>(json(-4294967295)));
  EXPECT_TRUE(is_refused<std::vector<int>>(json{1, 4294967297}));
  EXPECT_TRUE((is_refused<std::map<std::string, int>>(json{{"a", 4294967297}})));
  EXPECT_TRUE((is_refused<std::array<std::uint32_t, 3>>(json{1, 2})));
}

TEST(ExactJson, RefusesWordsThatMeanNothing) {
  enum class Colour { kRed, kBlue };
  constexpr std::pair<Colour, std::string_view> kColours[] = {{Colour::kRed, "red"},
                                                              {Colour::kBlue, "blue"}};
  EXPECT_EQ(named(json("blue"), kColours), Colour::kBlue);
  EXPECT_THROW(named(json("green"), kColours), json::exception);
  EXPECT_THROW(named(json(1), kColours), json::exception);
}

}  // namespace
}  // namespace hone
