#include <gtest/gtest.h>

#include "tune/program/build.h"

namespace hone::tune {
namespace {

// Rounds around `seconds`, one percent apart.
std::vector<double> rounds(double seconds) {
  std::vector<double> all;
  for (int round = 0; round < 16; ++round)
    all.push_back(seconds * (round % 2 == 0 ? 0.995 : 1.005));
  return all;
}

VerifiedBuild build(const std::string& label, double seconds, std::string spec = "") {
  VerifiedBuild made{Build{.label = label, .flags = {"--" + label}, .spec = std::move(spec)}};
  made.seconds = rounds(seconds);
  return made;
}

std::string chosen(const std::vector<std::vector<VerifiedBuild>>& at_sizes) {
  const auto choice = most_promising(at_sizes);
  if (!choice) return choice.error().message;
  return *choice ? (*choice)->label : "none";
}

TEST(MostPromising, IsTheFastestOfOneSize) {
  EXPECT_EQ(chosen({{build("default", 1), build("tiling", 0.9), build("spec", 0.5)}}), "spec");
}

TEST(MostPromising, IsTheDefaultWhereNothingLooksFaster) {
  EXPECT_EQ(chosen({{build("default", 1), build("tiling", 1), build("spec", 1.1)}}), "default");
}

// Half the time at one size does not make up for half as much again at the other.
TEST(MostPromising, LooksSlowerAtNoSize) {
  EXPECT_EQ(chosen({{build("default", 1), build("tiling", 0.5), build("spec", 0.9)},
                    {build("default", 1), build("tiling", 1.5), build("spec", 1)}}),
            "spec");
}

TEST(MostPromising, IsRightAtEverySizeWithTheSameSpec) {
  EXPECT_EQ(chosen({{build("default", 1), build("spec", 0.5)}, {build("default", 1)}}), "default");
  EXPECT_EQ(chosen({{build("default", 1), build("spec", 0.5, "two entries")},
                    {build("default", 1), build("spec", 0.5, "one entry")}}),
            "default");
}

// The default is fast and wrong.
TEST(MostPromising, IsTheFastestOfThoseThatRepair) {
  VerifiedBuild repairs = build("repairs", 1.3), spec = build("spec", 1.2);
  repairs.repairs = spec.repairs = {"main_dispatch_1"};
  EXPECT_EQ(chosen({{build("default", 1), build("tiling", 0.5), repairs, spec}}), "spec");
}

TEST(MostPromising, IsNoneWhereNothingRan) {
  EXPECT_EQ(chosen({{}}), "none");
  EXPECT_EQ(chosen({}), "none");
}

Recommended recommended(const std::vector<ProvingRounds>& at_sizes) {
  const auto verdict = verdict_of(at_sizes);
  EXPECT_TRUE(verdict) << verdict.error().message;
  return verdict ? verdict->recommended : Recommended::kDefault;
}

TEST(ProgramVerdict, RecommendsWhatFreshRoundsCallFaster) {
  EXPECT_EQ(recommended({{rounds(1), {}, rounds(0.8)}}), Recommended::kChosen);
  EXPECT_EQ(recommended({{rounds(1), {}, rounds(1)}}), Recommended::kDefault);
  EXPECT_EQ(recommended({{rounds(1), {}, rounds(1.2)}}), Recommended::kDefault);
}

TEST(ProgramVerdict, RecommendsWhatRepairsHoweverFastItIs) {
  const std::vector<ProvingRounds> slower{{rounds(1), {}, rounds(1.2)}};
  const auto verdict = verdict_of(slower, {"main_dispatch_1"});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->recommended, Recommended::kChosen);
  EXPECT_EQ(verdict->chosen.verdict, measure::Verdict::kSlower);
}

// A flag that makes the program twice as fast is no gain of the spec beside it.
TEST(ProgramVerdict, DoesNotCreditTheSpecWithWhatItsFlagsGain) {
  EXPECT_EQ(recommended({{rounds(1), rounds(0.5), rounds(0.5)}}), Recommended::kFlags);
  EXPECT_EQ(recommended({{rounds(1), rounds(0.5), rounds(0.4)}}), Recommended::kChosen);
  const auto verdict =
      verdict_of(std::vector<ProvingRounds>{{rounds(1), rounds(0.5), rounds(0.4)}});
  ASSERT_TRUE(verdict);
  EXPECT_DOUBLE_EQ(verdict->chosen.at_sizes[0].ratio, 0.4);
  EXPECT_DOUBLE_EQ(verdict->spec->at_sizes[0].ratio, 0.8);  // 0.4 / 0.5
  EXPECT_DOUBLE_EQ(verdict->flags->at_sizes[0].ratio, 0.5);
}

// Where the default does as well as both together, what the flags do alone is not asked.
TEST(ProgramVerdict, AsksForThePartsOnlyWhereTheWholeIsFaster) {
  EXPECT_EQ(recommended({{rounds(1), rounds(0.5), rounds(1)}}), Recommended::kDefault);
}

TEST(ProgramVerdict, IsFasterAtOneSizeAndSlowerAtNone) {
  EXPECT_EQ(recommended({{rounds(1), {}, rounds(0.8)}, {rounds(1), {}, rounds(1)}}),
            Recommended::kChosen);
  EXPECT_EQ(recommended({{rounds(1), {}, rounds(0.8)}, {rounds(1), {}, rounds(1.1)}}),
            Recommended::kDefault);
}

}  // namespace
}  // namespace hone::tune
