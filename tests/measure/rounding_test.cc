#include "measure/rounding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "measure/reference.h"
#include "measure/verification.h"
#include "tests/measure/built_computation.h"
#include "tests/measure/kernels.h"

namespace hone::measure {
namespace {

using problem::Computation;
using problem::ElementType;
using problem::ElementValue;
using Kind = InputValues::Kind;

const double kU = std::ldexp(1, -24);  // of f32

InputPlan reals(std::size_t bindings = 1) {
  InputPlan plan;
  plan.bindings.resize(bindings);
  return plan;
}

TEST(Rounding, OfAMaximumIsNoneWhateverItStartsFrom) {
  for (const double start : {-3.4028234663852886e38, -std::numeric_limits<double>::infinity()}) {
    Built built;
    const int x = built.input(0);
    built.reduction("arith.maximumf", x, built.constant(start), 4096);
    EXPECT_TRUE(built.estimate(reals()).is_exact()) << start;
    EXPECT_EQ(built.estimate(reals()).largest(), 1.5) << start;
  }
}

TEST(Rounding, OfASoftmaxIsRelativeToItsElement) {
  Built built;
  ElementValue softmax{.kind = ElementValue::Kind::kSoftmax, .operands = {built.input(0)}};
  softmax.terms = 512;
  built.add(std::move(softmax));
  const Estimate estimate = built.estimate(reals());
  EXPECT_EQ(estimate.absolute, 0);
  // x - max spans 3: 3 u. exp 4 u, the division and the narrowing 2 u. The sum is of 512 terms, as
  // few as 512 / e^(3/4) = 241.8 of which weigh: sqrt(241.8) = 15.55 u. In all 24.55 u.
  EXPECT_NEAR(estimate.relative / kU, 24.55, 0.01);
}

TEST(Rounding, OfAttentionIsAPartOfTheLargestValue) {
  Built built;
  const int query = built.input(0), key = built.input(1), value = built.input(2);
  ElementValue attention{.kind = ElementValue::Kind::kAttention,
                         .operands = {query, key, value, built.constant(0.125)}};
  attention.inner_terms = 64;
  attention.terms = 128;
  built.add(std::move(attention));
  const Estimate estimate = built.estimate(reals(3));
  // The largest value is 1.5; its real error is 1e-6.
  EXPECT_GT(estimate.absolute, 1e-6);
  EXPECT_LT(estimate.absolute, 4e-6);
}

TEST(Rounding, OfSumsFollowsTheirTerms) {
  Built one_sign;
  const int x = one_sign.input(0);
  one_sign.reduction("arith.addf", one_sign.operation("arith.mulf", {x, x}), one_sign.constant(0),
                     4096);
  // sqrt(4096) u for the sum and u for each square.
  EXPECT_NEAR(one_sign.estimate(reals()).relative / kU, 65, 1e-9);
  EXPECT_EQ(one_sign.estimate(reals()).absolute, 0);

  Built both_signs;
  both_signs.reduction("arith.addf", both_signs.input(0), both_signs.constant(0), 4096);
  const Estimate wanders = both_signs.estimate(reals());
  EXPECT_NEAR(wanders.absolute / kU, 4096 * 1.05, 1e-6);  // 1.05: the rms of +-[0.5, 1.5)
  EXPECT_NEAR(wanders.relative / kU, 64, 1e-9);

  InputPlan integers = reals();
  integers.bindings[0] = {Kind::kIntegers, 127, 0, 1, 1};
  EXPECT_TRUE(both_signs.estimate(integers).is_exact());  // 4096 x 127 < 2^24
}

// One of 2.6 million sums of 1,280 products was 3 x 1,280 u rms off on a tensor core (H200).
TEST(Rounding, OfProductsOnAMatrixUnitTruncates) {
  const auto sum = [](std::int64_t terms, bool of_products) {
    Built built;
    const int x = built.input(0), y = built.input(1);
    built.reduction("arith.addf", of_products ? built.operation("arith.mulf", {x, y}) : x,
                    built.constant(0), terms);
    return built;
  };
  const auto off = [&](std::int64_t terms, bool of_products, bool matrix_units) {
    return sum(terms, of_products).estimate(reals(2), matrix_units).absolute / kU;
  };
  // 6 x 1,280 x sqrt(1,280 / 12) / 16 = 4,957 in place of 1,280; the rounding of each term adds
  // the same in both.
  const double rms = 1.05 * 1.05;
  EXPECT_NEAR(off(1280, true, true) - off(1280, true, false), (4957 - 1280) * rms, 1);
  EXPECT_EQ(off(64, true, true), off(64, true, false));        // truncating four times
  EXPECT_EQ(off(1280, false, true), off(1280, false, false));  // no unit adds up plain values
}

// The body divides: in a MobileNet such sums were taken for exact, and the compiler's own code for
// wrong, by one unit in the last place.
TEST(Rounding, OfASumWhoseTermsDivideIsNotNone) {
  Built built;
  const int seventh = built.operation("arith.divf", {built.input(0), built.constant(7)});
  built.reduction("arith.addf", seventh, built.constant(0), 8);
  InputPlan integers = reals();
  integers.bindings[0] = {Kind::kIntegers, 127, 0, 1, 1};
  EXPECT_FALSE(built.estimate(integers).is_exact());
  // By a power of two nothing is rounded.
  Built eighth;
  eighth.reduction("arith.addf",
                   eighth.operation("arith.divf", {eighth.input(0), eighth.constant(8)}),
                   eighth.constant(0), 8);
  EXPECT_TRUE(eighth.estimate(integers).is_exact());
}

TEST(Rounding, OfANarrowingOfAnExactValueIsNone) {
  Built built;
  ElementValue narrow{.kind = ElementValue::Kind::kOperation,
                      .operation = "arith.truncf",
                      .operands = {built.input(0)},
                      .type = ElementType::kF16};
  built.add(narrow);
  EXPECT_TRUE(built.estimate(reals()).is_exact());
  // Of a rounded one it is one more rounding.
  Built rounded;
  narrow.operands = {rounded.operation("math.exp", {rounded.input(0)})};
  rounded.add(narrow);
  EXPECT_NEAR(rounded.estimate(reals()).relative, 4 * kU + std::ldexp(1, -11), 1e-12);
}

// An elementwise dispatch over one input of 4 x 64 f32.
problem::Dispatch elementwise(Computation computation) {
  using namespace problem;
  Dispatch dispatch;
  dispatch.root.kind = OperationKind::kElementwise;
  dispatch.root.name = "linalg.generic";
  dispatch.root_operations = 1;
  const TensorType type{ElementType::kF32, {4, 64}};
  dispatch.bindings = {{Access::kReadOnly, BindingUse::kRootInput, type, 1024},
                       {Access::kWriteOnly, BindingUse::kOutput, type, 1024}};
  computation.outputs = {{1, static_cast<int>(computation.values.size()) - 1}};
  dispatch.computation = std::move(computation);
  return dispatch;
}

TEST(Domains, InputsOfLogarithmsAndRootsArePositive) {
  for (const char* name : {"math.log", "math.sqrt", "math.rsqrt"}) {
    Built built;
    built.operation(name, {built.input(0)});
    EXPECT_TRUE(plan_inputs(elementwise(built.computation)).bindings[0].positive) << name;
  }
  Built exponential;
  exponential.operation("math.exp", {exponential.input(0)});
  EXPECT_FALSE(plan_inputs(elementwise(exponential.computation)).bindings[0].positive);
}

TEST(Domains, WhatIsTakenAwayBeforeALogarithmMakesInputsLarger) {
  Built built;
  const int less = built.operation("arith.subf", {built.input(0), built.constant(1)});
  built.operation("math.log", {less});
  const InputValues values = plan_inputs(elementwise(built.computation)).bindings[0];
  EXPECT_TRUE(values.positive);
  EXPECT_EQ(values.exponent, 2);  // [2, 6), and 1 to 5 behind the subtraction
}

TEST(Domains, ArgumentsOfExponentialsAreMadeSmaller) {
  Built built;
  const int large = built.operation("arith.mulf", {built.input(0), built.constant(100)});
  built.operation("math.exp", {large});
  const InputValues values = plan_inputs(elementwise(built.computation)).bindings[0];
  EXPECT_EQ(values.exponent, -2);  // 150 / 4 = 37.5 is below 40
}

TEST(Extremes, EachRowHasOneLargestAndOneSmallest) {
  InputValues values{Kind::kExtremes, 1 << 14, 0, 1, 1};
  values.axes = {{7, false, false}, {33, true, false}};
  for (const ElementType type : {ElementType::kF32, ElementType::kF16, ElementType::kI32}) {
    Bytes bytes(7 * 33 * static_cast<std::size_t>(problem::byte_size(type)));
    fill_input(bytes, type, values, 5);
    std::set<std::size_t> places;
    for (std::size_t row = 0; row < 7; ++row) {
      std::vector<double> drawn;
      for (std::size_t i = 0; i < 33; ++i) drawn.push_back(element(bytes, type, row * 33 + i));
      const auto largest = std::max_element(drawn.begin(), drawn.end());
      EXPECT_EQ(std::count(drawn.begin(), drawn.end(), *largest), 1) << problem::name_of(type);
      places.insert(static_cast<std::size_t>(largest - drawn.begin()));
    }
    EXPECT_GT(places.size(), 3u) << "the places are random";
  }
}

TEST(FullSignificands, MakeEachSumOneProductOfAFullSignificand) {
  for (const std::int64_t k : {1, 2, 96}) {
    const problem::Dispatch dispatch =
        matmul_dispatch(5, 8, k, ElementType::kF32, ElementType::kF32);
    const InputPlan plan = plan_inputs(dispatch, OperandSet::kFullSignificands);
    EXPECT_TRUE(plan.exact);
    Bytes a(byte_count(dispatch.bindings[0].type)), b(byte_count(dispatch.bindings[1].type));
    fill_input(a, ElementType::kF32, plan.bindings[0], 3);
    fill_input(b, ElementType::kF32, plan.bindings[1], 4);
    int full_of_a = 0, full_of_b = 0;
    for (std::size_t m = 0; m < 5; ++m)
      for (std::size_t n = 0; n < 8; ++n) {
        int products = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
          const double left = element(a, ElementType::kF32, m * static_cast<std::size_t>(k) + i);
          const double right = element(b, ElementType::kF32, i * 8 + n);
          if (left * right == 0) continue;
          ++products;
          // More binary digits than bf16, f16 and tf32 have.
          full_of_a += lowest_digit(left) < -11 ? 1 : 0;
          full_of_b += lowest_digit(right) < -11 ? 1 : 0;
        }
        EXPECT_EQ(products, 1) << m << ", " << n << " of " << k;
      }
    EXPECT_GE(full_of_a, 19);
    EXPECT_GE(full_of_b, k > 1 ? 19 : 0);  // every other column
  }
}

// C[m, n] += A[2m, k] B[k, n], which the compiler calls a reduction: tensor cores truncate sums of
// reals by more than any estimate of roundings allows.
TEST(FullSignificands, AreSingleProductsWhereEverySecondRowIsTaken) {
  problem::Dispatch dispatch = matmul_dispatch(5, 8, 96, ElementType::kF16, ElementType::kF32);
  dispatch.root.kind = problem::OperationKind::kReduction;
  dispatch.root.operands[0].type.shape = dispatch.bindings[0].type.shape = {10, 96};
  dispatch.root.operands[0].loops[0] = -1;
  dispatch.bindings[0].bytes = 10 * 96 * 2;
  Built built;
  const int product = built.operation("arith.mulf", {built.input(0), built.input(1)});
  const int sum = built.reduction("arith.addf", product, built.constant(0), 96);
  built.computation.outputs = {{2, sum}};
  dispatch.computation = built.computation;
  const InputPlan plan = plan_inputs(dispatch, OperandSet::kFullSignificands);
  ASSERT_TRUE(plan.single_products) << plan.basis;
  EXPECT_TRUE(plan.exact) << plan.basis;
  EXPECT_EQ(tolerances_for(dispatch, plan)[2].absolute, 0);
  Bytes a(10 * 96 * 2), b(96 * 8 * 2);
  fill_input(a, ElementType::kF16, plan.bindings[0], 3);
  fill_input(b, ElementType::kF16, plan.bindings[1], 4);
  for (std::size_t m = 0; m < 5; ++m)
    for (std::size_t n = 0; n < 8; ++n) {
      int products = 0;
      for (std::size_t k = 0; k < 96; ++k)
        products += element(a, ElementType::kF16, 2 * m * 96 + k) != 0 &&
                    element(b, ElementType::kF16, k * 8 + n) != 0;
      EXPECT_EQ(products, 1) << m << ", " << n;
    }
}

TEST(FullSignificands, AreAsFewDigitsAsTheDispatchAllows) {
  problem::Dispatch dispatch = matmul_dispatch(8, 8, 32, ElementType::kF32, ElementType::kF32);
  dispatch.operand_digits = 11;  // TF32
  const InputPlan plan = plan_inputs(dispatch, OperandSet::kFullSignificands);
  Bytes a(byte_count(dispatch.bindings[0].type));
  fill_input(a, ElementType::kF32, plan.bindings[0], 3);
  for (std::size_t i = 0; i < 8 * 32; ++i) {
    const double value = element(a, ElementType::kF32, i);
    EXPECT_TRUE(value == 0 || lowest_digit(value) >= -10) << value;
  }
}

TEST(Computation, TravelsAsJson) {
  Built built;
  const int x = built.input(0);
  built.reduction("arith.maximumf", x, built.constant(-std::numeric_limits<double>::infinity()), 9);
  built.computation.outputs = {{1, 2}};
  const nlohmann::json json = built.computation;
  EXPECT_EQ(json.get<Computation>(), built.computation);
  nlohmann::json later = json;
  later["values"][2]["operands"] = {5};
  EXPECT_THROW((void)later.get<Computation>(), nlohmann::json::exception);
}

}  // namespace
}  // namespace hone::measure
