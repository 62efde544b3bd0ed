
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "base/file.h"
#include "tune/program/checked_inputs.h"
#include "tune/program/program_outputs.h"

namespace hone::tune {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

problem::Array reals(const std::vector<float>& values) {
  problem::Array array{{problem::ElementType::kF32, {static_cast<std::int64_t>(values.size())}},
                       {}};
  array.bytes.resize(values.size() * sizeof(float));
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

problem::Array integers(const std::vector<std::int32_t>& values) {
  problem::Array array{{problem::ElementType::kI32, {static_cast<std::int64_t>(values.size())}},
                       {}};
  array.bytes.resize(values.size() * sizeof(std::int32_t));
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

std::vector<float> values_of(const problem::Array& array) {
  std::vector<float> values(array.bytes.size() / sizeof(float));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

bool is_right(const problem::Array& got, const problem::Array& expected,
              const std::vector<double>& moves) {
  return compare_with_moves(got, expected, rounding_tolerance(expected), moves).value().right;
}

// 2^-18 of the element at most, and never nothing: an odd number of thirds.
TEST(Nudged, MovesEachRealByRounding) {
  const problem::Array array = reals({1, -8, 0, 3});
  const std::vector<float> moved = values_of(*nudged(array, 7));
  EXPECT_NEAR(moved[0], 1, 0x1p-18);
  EXPECT_NE(moved[0], 1);
  EXPECT_NEAR(moved[1], -8, 0x1p-15);
  EXPECT_EQ(moved[2], 0);
  EXPECT_FALSE(nudged(integers({1, 2}), 7).has_value());
}

// An element of 1 may lie 1e-5 of the largest, 10, apart: 1e-4, and 1e-5 of itself. One that moves
// by 0.001 may lie 0.004 further.
TEST(CompareWithMoves, AllowsFourTimesTheMoveOfAnElement) {
  const problem::Array expected = reals({10, 1, 1});
  const std::vector<double> moves{0, 0.001, 0};
  EXPECT_TRUE(is_right(reals({10, 1.004F, 1.0001F}), expected, moves));
  EXPECT_FALSE(is_right(reals({10, 1.0045F, 1}), expected, moves));
}

// The third was not seen to move, but one that moves as far is among them. Two such are not.
TEST(CompareWithMoves, AllowsAsManyToJumpAsWereSeenTo) {
  const problem::Array expected = reals({10, 1, 1, 1});
  const std::vector<double> moves{0, 0.001, 0, 0};
  EXPECT_TRUE(is_right(reals({10, 1, 1.003F, 1}), expected, moves));
  EXPECT_FALSE(is_right(reals({10, 1, 1.003F, 1.003F}), expected, moves));
}

TEST(CompareWithMoves, AllowsIntegersWhatTheyMoveOnce) {
  const problem::Array expected = integers({4, 900, 7});
  EXPECT_TRUE(is_right(integers({4, 3, 7}), expected, {0, 897, 0}));
  EXPECT_FALSE(is_right(integers({5, 900, 6}), expected, {0, 1, 0}));
}

// log(x) at 1 + 2^-10 is 9.8e-4, and moves by the 2^-18 that x moves, 3.8e-6: a share of 0.4 %.
TEST(Moves, AreTheConditionOfEachElement) {
  const auto folder = TemporaryFolder::create("hone-moves-").value();
  const std::filesystem::path file = folder.path() / "argument0.npy";
  const problem::Array argument = reals({1.0009765625F, std::numbers::e_v<float>});
  ASSERT_TRUE(write_file_atomically(file, problem::to_npy(argument)));
  const auto logarithm = [](const std::vector<std::filesystem::path>& inputs) {
    const problem::Array array = problem::from_npy(read_file(inputs.front()).value()).value();
    std::vector<float> results;
    for (const float value : values_of(array)) results.push_back(std::log(value));
    return Result<std::vector<problem::Array>>(std::vector{reals(results)});
  };
  const auto moves =
      moves_of({file}, logarithm({file}).value(), folder.path(), 42, logarithm).value();
  ASSERT_TRUE(moves.has_value());
  EXPECT_LE(moves->front()[0], 0x1p-18);
  EXPECT_GE(moves->front()[0], 0x1p-20);
  EXPECT_LE(moves->front()[1], 0x1p-18 * 1.1);
  // No argument of reals: nothing is known.
  EXPECT_FALSE(moves_of({}, {reals({1})}, folder.path(), 42, logarithm).value().has_value());
}

std::string why(const problem::Array& one, const problem::Array& other) {
  return why_outputs_say_nothing({one}, {other}, true);
}

TEST(WhyOutputsSayNothing, NamesConstantSaturatedAndUnchangedOnes) {
  EXPECT_THAT(why(reals({-1000, -1000}), reals({-1000, -1000})),
              HasSubstr("each of its elements is -1000"));
  EXPECT_THAT(why(reals({1, -1, 1}), reals({-1, 1, 1})), HasSubstr("two values"));
  EXPECT_THAT(why(reals({1, 1e-9F, 0, 2e-8F}), reals({0, 1, 1, 0})), HasSubstr("two values"));
  EXPECT_THAT(why(reals({1, 2, 3}), reals({1, 2, 3})), HasSubstr("the same for other inputs"));
  EXPECT_THAT(why(reals({1, 2, 3}), reals({1, 2, 4})), IsEmpty());
  EXPECT_THAT(why_outputs_say_nothing({}, {}, true), HasSubstr("returns nothing"));
  // A mask beside what tells.
  EXPECT_THAT(why_outputs_say_nothing({integers({1, 1}), reals({1, 2, 3})},
                                      {integers({1, 1}), reals({2, 2, 3})}, true),
              IsEmpty());
}

// Every element is -1000 unless the sum of a row is smaller, which takes reals that are larger.
TEST(InputsThatTell, AreLargerWhereOutputsAreSaturated) {
  const auto folder = TemporaryFolder::create("hone-tell-").value();
  const std::filesystem::path file = folder.path() / "argument0.npy";
  std::vector<float> ones(64);
  for (std::size_t i = 0; i < ones.size(); ++i) ones[i] = i % 2 == 0 ? 1.0F : -1.0F;
  ASSERT_TRUE(write_file_atomically(file, problem::to_npy(reals(ones))));
  const auto program = [](const std::vector<std::filesystem::path>& inputs) {
    const problem::Array array = problem::from_npy(read_file(inputs.front()).value()).value();
    std::vector<float> results;
    for (const float value : values_of(array)) results.push_back(std::min(30 * value, -1000.0F));
    return Result<std::vector<problem::Array>>(std::vector{reals(results)});
  };
  const CheckedInputs found =
      inputs_that_tell({}, {{file}, program({file}).value()}, folder.path(), 42, program).value();
  EXPECT_THAT(found.says_nothing, IsEmpty());
  EXPECT_TRUE(found.redrawn);
  EXPECT_EQ(found.sets.size(), 2U);
  const auto constant = [](const std::vector<std::filesystem::path>&) {
    return Result<std::vector<problem::Array>>(std::vector{reals({2, 2})});
  };
  EXPECT_THAT(inputs_that_tell({}, {{file}, {reals({2, 2})}}, folder.path(), 42, constant)
                  .value()
                  .says_nothing,
              HasSubstr("each of its elements is 2"));
}

}  // namespace
}  // namespace hone::tune
