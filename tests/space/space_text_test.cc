#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "space/configuration.h"

namespace hone::space {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SpaceText, AKnobOf993ValuesIsOneRange) {
  std::vector<Value> threads(993);
  std::iota(threads.begin(), threads.end(), 32);
  EXPECT_EQ(domain_text(threads), "32..1024");
}

TEST(SpaceText, RangesStandAmongOtherValues) {
  EXPECT_EQ(domain_text(std::vector<Value>{0, 2, 3, 4, 5, 8, 9, 10, 16}), "0, 2..5, 8, 9, 10, 16");
  EXPECT_EQ(domain_text(std::vector<Value>{2, 0, 3}), "2, 0, 3");  // the order is the domain's
  EXPECT_EQ(domain_text(std::vector<Value>{-2, -1, 0, 1}), "-2..1");
  EXPECT_EQ(domain_text(std::vector<Value>{}), "");
}

TEST(SpaceText, OfManyScatteredValuesTheFirstAndTheLastAreListed) {
  std::vector<Value> even;
  for (Value value = 2; value <= 100; value += 2) even.push_back(value);
  EXPECT_EQ(domain_text(even), "2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, ..., 100 (50 values)");
  even.resize(kMostListed);
  EXPECT_EQ(domain_text(even).find("..."), std::string::npos);
}

Space two_tiles() {
  SpaceBuilder builder;
  const Expression m = builder.knob("m", "", {16, 32}), n = builder.knob("n", "", {16, 32});
  builder.prefer("divide", "a tile that leaves a remainder ({} into {}) is masked",
                 euclidean_mod(constant(512), m) == 0, {m, constant(512)});
  builder.prefer("divide", "a tile that leaves a remainder ({} into {}) is masked",
                 euclidean_mod(constant(96), n) == 0, {n, constant(96)});
  builder.require("m <= 32", "m <= 32 (limit)", m <= 32);
  return *builder.build();
}

TEST(SpaceText, ConstraintsOfOneReasonAreOneRuleWithoutHoles) {
  const std::vector<Rule> rules = rules_of(two_tiles());
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].text, "a tile that leaves a remainder (m into 512; n into 96) is masked");
  EXPECT_EQ(rules[0].hardness, Hardness::kSoft);
  EXPECT_EQ(reason_text(two_tiles().constraints()[1]),
            "a tile that leaves a remainder (n into 96) is masked");
}

TEST(SpaceText, ATextThatBeginsWithItsNameIsItsName) {
  const Rule rule = rules_of(two_tiles()).back();
  EXPECT_EQ(named(rule.name, rule.text), "m <= 32 (limit)");
  EXPECT_EQ(named("divide", "a tile"), "divide: a tile");
}

TEST(SpaceText, ACompilersMessageIsLeftWithoutTheNumbersBehindIt) {
  SpaceBuilder builder;
  const Expression m = builder.knob("m", "", {8, 16}), n = builder.knob("n", "", {8, 16});
  builder.require("m must be divisible by n", "m must be divisible by n ({} % {} == 0)",
                  euclidean_mod(m, n) == 0, {m, n});
  const std::vector<Rule> rules = rules_of(*builder.build());
  EXPECT_EQ(rules.front().text, "m must be divisible by n");
  EXPECT_EQ(reason_text(builder.build()->constraints()[0]),
            "m must be divisible by n (m % n == 0)");
}

TEST(SpaceText, WholeSentencesAreRulesOfTheirOwn) {
  SpaceBuilder builder;
  const Expression m = builder.knob("m", "", {8, 16}), n = builder.knob("n", "", {8, 16});
  for (const Expression& tile : {m, n, m})
    builder.require("cover", "{} threads must cover a tile of {}", tile >= 8, {constant(32), tile});
  const std::vector<Rule> rules = rules_of(*builder.build());
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].text, "32 threads must cover a tile of m");
  EXPECT_EQ(rules[1].text, "32 threads must cover a tile of n");
}

TEST(SpaceText, WhatFoldsBeginWithIsNotPrinted) {
  const Expression a = Expression::variable(0, "a"), b = Expression::variable(1, "b");
  EXPECT_EQ(to_string(constant(1) * a * b), "a * b");
  EXPECT_EQ(to_string(constant(0) + a + b), "a + b");
  EXPECT_EQ(to_string(b * (constant(1) * (a + b))), "b * (a + b)");
  EXPECT_EQ(to_string(constant(1) * constant(1)), "1");
  EXPECT_EQ(to_string(euclidean_mod(b, constant(0) + a * b)), "b % (a * b)");
}

TEST(SpaceText, ALongArgumentIsLeftOut) {
  SpaceBuilder builder;
  const Expression m = builder.knob("m", "", {1, 2});
  Expression sum = m;
  for (int i = 0; i < 20; ++i) sum = sum + m * 2;
  builder.require("small", "{} bytes of {}", sum <= 100, {sum, m});
  EXPECT_EQ(reason_text(builder.build()->constraints()[0]), "... bytes of m");
}

TEST(SpaceText, ARuleNamesThePartsThatHaveIt) {
  const auto part = [](bool more) {
    SpaceBuilder builder;
    const Expression m = builder.knob("m", "", {1, 2, 4});
    builder.require("positive", "m is positive", m >= 1);
    if (more) builder.require("small", "m is small", m <= 2);
    return *builder.build();
  };
  const std::vector<Rule> rules = rules_of(Space::unite("which", "", {part(false), part(true)}));
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_THAT(rules[0].parts, IsEmpty());
  EXPECT_THAT(rules[1].parts, ElementsAre(1u));
}

}  // namespace
}  // namespace hone::space
