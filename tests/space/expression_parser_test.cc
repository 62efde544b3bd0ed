#include "space/expression_parser.h"

#include <gmock/gmock.h>

namespace hone::space {
namespace {

using testing::HasSubstr;

// BLOCK_M and BLOCK_N are variables 0 and 1; the sizes are constants.
Names names() {
  return {{"BLOCK_M", Expression::variable(0, "BLOCK_M")},
          {"BLOCK_N", Expression::variable(1, "BLOCK_N")},
          {"M", 100},
          {"N", 64},
          {"A.stride(0)", 512}};
}

// With BLOCK_M = 32 and BLOCK_N = 48.
std::optional<Value> value(std::string_view text) {
  const auto expression = parse_expression(text, names());
  EXPECT_TRUE(expression) << text << ": " << expression.error().message;
  const std::vector<Value> variables{32, 48};
  return expression ? evaluate(*expression, variables) : std::nullopt;
}

std::string refusal(std::string_view text) {
  const auto expression = parse_expression(text, names());
  EXPECT_FALSE(expression) << text;
  if (expression) return "";
  EXPECT_EQ(expression.error().kind, ErrorKind::kInput);
  return expression.error().message;
}

TEST(ExpressionParser, ReadsArithmeticAsPythonDoes) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("100 - 10 - 1"), 89);
  EXPECT_EQ(value("-7 // 2"), -4);
  EXPECT_EQ(value("-7 % 2"), 1);
  EXPECT_EQ(value("7 * 6 // 4 % 4"), 2);  // 42 // 4 = 10, 10 % 4
  EXPECT_EQ(value("-(2 - --3)"), 1);
}

TEST(ExpressionParser, KnowsNamesStridesAndFunctions) {
  EXPECT_EQ(value("cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)"), 8);  // 4 * 2
  EXPECT_EQ(value("cdiv(96, BLOCK_M)"), 3);
  EXPECT_EQ(value("min(M, BLOCK_M, 40)"), 32);
  EXPECT_EQ(value("max(M, BLOCK_M)"), 100);
  EXPECT_EQ(value("A . stride( 0 ) + 1"), 513);
}

TEST(ExpressionParser, ReadsConditions) {
  EXPECT_EQ(value("BLOCK_M == 32 and not BLOCK_N == 32"), 1);
  EXPECT_EQ(value("True or M // 0 == 1"), 1);
  EXPECT_EQ(value("16 <= BLOCK_M < BLOCK_N"), 1);
  EXPECT_EQ(value("48 > BLOCK_N >= BLOCK_M"), 0);
  EXPECT_EQ(value("8 if M % BLOCK_M == 0 else 4 if M > 64 else 2"), 4);
  EXPECT_EQ(value("M // 0"), std::nullopt);
}

TEST(ExpressionParser, NamesTheColumnOfWhatIsWrong) {
  EXPECT_EQ(refusal("cdiv(M, BLOK_M)"),
            "column 9: unknown name 'BLOK_M' (did you mean 'BLOCK_M' or 'BLOCK_N'?)");
  EXPECT_EQ(refusal(""), "column 1: an expression is missing");
  EXPECT_EQ(refusal("M +"), "column 4: the expression is cut off");
  EXPECT_EQ(refusal("(M + 1"), "column 7: ')' is missing");
  EXPECT_EQ(refusal("M N"), "column 3: 'N' does not belong here");
  EXPECT_EQ(refusal("M * * N"), "column 5: '*' does not belong here");
  EXPECT_EQ(refusal("M / N"), "column 3: '/' does not give whole numbers; write '//'");
  EXPECT_EQ(refusal("M == 1 && N == 1"), "column 8: write 'and' for '&&'");
  EXPECT_EQ(refusal("ceil(M)"),
            "column 1: unknown function 'ceil'; there are min, max, cdiv, ceil_log2 and "
            "division_magic");
  EXPECT_EQ(refusal("ceil_log2(M, 2)"), "column 1: ceil_log2 takes one value, not 2");
  EXPECT_EQ(refusal("1 + cdiv(M)"), "column 5: cdiv takes two values, not 1");
  EXPECT_EQ(refusal("A.stride(2)"),
            "column 1: unknown name 'A.stride(2)' (did you mean 'A.stride(0)'?)");
  EXPECT_EQ(refusal("M = 3"), "column 3: '=' does not belong here");
  EXPECT_EQ(refusal("M ≤ 3"), "column 3: '≤' does not belong here");
  EXPECT_EQ(refusal("1 if M"), "column 7: 'else' is missing");
  EXPECT_EQ(refusal("99999999999999999999"), "column 1: '99999999999999999999' is beyond 64 bits");
  EXPECT_EQ(refusal("2x"), "column 1: '2x' is neither a number nor a name");
}

TEST(ExpressionParser, RefusesWhatIsNestedWithoutEnd) {
  EXPECT_THAT(refusal(std::string(100'000, '(')), HasSubstr("more than 100 levels of nesting"));
  EXPECT_THAT(refusal(std::string(100'000, '-')), HasSubstr("more than 100 levels of nesting"));
}

TEST(ExpressionParser, LogarithmsAreRoundedUp) {
  EXPECT_EQ(value("ceil_log2(1)"), 0);
  EXPECT_EQ(value("ceil_log2(2)"), 1);
  EXPECT_EQ(value("ceil_log2(10)"), 4);
  EXPECT_EQ(value("ceil_log2(1024)"), 10);
  EXPECT_EQ(value("ceil_log2(1025)"), 11);
  EXPECT_EQ(value("ceil_log2(2147483648)"), 31);
}

// 2**32 * (16 - 10) // 10 + 1 is what MISA's driver printed for ten tiles. The sum is taken in 32
// bits and more: kernels restrict x to 31 bits for that.
TEST(ExpressionParser, DivisionMagicDivides) {
  EXPECT_EQ(value("division_magic(10)"), 2576980378);
  EXPECT_EQ(value("division_magic(1024)"), 1);
  for (const Value divisor : {1, 3, 7, 10, 160, 641, 65537, 2147483647}) {
    const Value magic = value(fmt::format("division_magic({})", divisor)).value();
    const Value shift = value(fmt::format("ceil_log2({})", divisor)).value();
    ASSERT_LT(magic, Value{1} << 32) << divisor;
    for (const Value x : {0, 1, 9, 10, 159, 160, 65536, 1000000007, 2147483646, 2147483647})
      EXPECT_EQ(((x * magic >> 32) + x) >> shift, x / divisor) << x << " // " << divisor;
  }
}

}  // namespace
}  // namespace hone::space
