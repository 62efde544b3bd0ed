#include "tune/variant_choice.h"

#include <gtest/gtest.h>

namespace hone::tune {
namespace {

// Rounds around `seconds`, one percent apart.
RightVariant variant(std::string name, double seconds) {
  RightVariant made{.name = std::move(name), .flags = {}, .uses_spec = false, .seconds = {}};
  for (int round = 0; round < 12; ++round)
    made.seconds.push_back(seconds * (round % 2 == 0 ? 0.995 : 1.005));
  return made;
}

std::string chosen(const std::vector<std::vector<RightVariant>>& at_sizes) {
  const auto choice = choose_variant(at_sizes);
  if (!choice) return choice.error().message;
  return *choice ? (*choice)->name : "none";
}

TEST(VariantChoice, IsTheFastestOfOneSize) {
  EXPECT_EQ(chosen({{variant("default", 1), variant("tiling", 0.9), variant("spec", 0.5)}}),
            "spec");
}

TEST(VariantChoice, IsTheOneThatAsksLessWhereTheyAreNotToldApart) {
  EXPECT_EQ(chosen({{variant("default", 1), variant("tiling", 1), variant("spec", 1)}}), "default");
}

TEST(VariantChoice, IsFasterAtOneSizeAndSlowerAtNone) {
  EXPECT_EQ(chosen({{variant("default", 1), variant("tiling", 0.5), variant("spec", 0.9)},
                    {variant("default", 1), variant("tiling", 1.5), variant("spec", 1)}}),
            "spec");
}

TEST(VariantChoice, IsRightAtEverySize) {
  EXPECT_EQ(chosen({{variant("default", 1), variant("spec", 0.5)}, {variant("default", 1)}}),
            "default");
}

TEST(VariantChoice, IsNoneWhereNothingRan) {
  EXPECT_EQ(chosen({{}}), "none");
  EXPECT_EQ(chosen({}), "none");
}

}  // namespace
}  // namespace hone::tune
