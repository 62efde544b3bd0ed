#include "problem/scalar_operation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hone::problem {
namespace {

TEST(ScalarOperation, HasOneMeaningForIntegersAndFloats) {
  EXPECT_EQ(ScalarOperation("arith.addf").kind(), ScalarKind::kSum);
  EXPECT_EQ(ScalarOperation("arith.addi").kind(), ScalarKind::kSum);
  EXPECT_FALSE(ScalarOperation("arith.addf") == ScalarOperation("arith.addi"));
}

TEST(ScalarOperation, IsEvaluatedInDoublePrecision) {
  const auto value = [](std::string_view name, std::vector<double> operands) {
    const ScalarFacts& facts = scalar_facts(name);
    EXPECT_EQ(facts.operands, operands.size()) << name;
    return facts.value(operands.data());
  };
  EXPECT_EQ(value("arith.subf", {1, 4}), -3);
  EXPECT_EQ(value("arith.minimumf", {3, -2}), -2);
  EXPECT_TRUE(std::isnan(value("arith.minimumf", {3, NAN})));
  EXPECT_EQ(value("arith.minnumf", {3, NAN}), 3);
  EXPECT_EQ(value("arith.select", {1, 5, 7}), 5);
  EXPECT_DOUBLE_EQ(value("math.cbrt", {27}), 3);
  EXPECT_EQ(value("math.sinh", {0}), 0);
  EXPECT_DOUBLE_EQ(value("math.asinh", {0.75}), std::log(2)) << "log(x + sqrt(x * x + 1))";
  EXPECT_EQ(value("math.erfc", {0}), 1);
  EXPECT_EQ(scalar_facts("arith.maxui").value, nullptr) << "that depends on the type's width";
}

TEST(ScalarOperation, SelectsWhereAReductionRoundsNothing) {
  for (const char* name : {"arith.maximumf", "arith.minui", "arith.andi", "arith.ori"})
    EXPECT_TRUE(scalar_facts(name).selects()) << name;
  for (const char* name : {"arith.addf", "arith.xori", "arith.select"})
    EXPECT_FALSE(scalar_facts(name).selects()) << name;
}

TEST(ScalarOperation, MayBeOutsideTheTable) {
  const ScalarOperation other("linalg.conv_2d");
  EXPECT_EQ(other.name(), "linalg.conv_2d");
  EXPECT_TRUE(other.is(ScalarKind::kOther));
  EXPECT_EQ(other.facts().value, nullptr);
  EXPECT_EQ(other.facts().gpu_instructions, 1);
}

}  // namespace
}  // namespace hone::problem
