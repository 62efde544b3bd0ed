#include "measure/verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/measure/kernels.h"

namespace hone::measure {
namespace {

using problem::ElementType;
using problem::TensorType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Bytes floats(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

const float kFloatNan = std::nanf("");
constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();

TEST(Compare, CountsAndNamesTheFirstBadElement) {
  const TensorType type{ElementType::kF32, {2, 3}};
  const auto result =
      compare(floats({1, 2, 3, 4, 0, 8}), floats({1, 2, 3, 4, 5, 6}), type, {.absolute = 1});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->right);
  EXPECT_EQ(result->bad, 2);
  EXPECT_EQ(result->elements, 6);
  EXPECT_DOUBLE_EQ(result->share, 1.0 / 3);
  EXPECT_THAT(result->first_bad, ElementsAre(1, 1));
  EXPECT_EQ(result->expected, 5);
  EXPECT_EQ(result->got, 0);
  EXPECT_EQ(result->worst_error, 5);
  EXPECT_EQ(describe(*result),
            "wrong: 2 of 6 elements (33.3 %), first at [1, 1]: expected 5, got 0");
}

// Cores share what is large: what each of them found is of the whole.
TEST(Compare, LargeTensorsAreComparedInParts) {
  constexpr std::int64_t kRows = 1024, kColumns = 1500;
  const TensorType type{ElementType::kF32, {kRows, kColumns}};
  const std::vector<float> expected(kRows * kColumns, 1);
  std::vector<float> got = expected;
  got[700 * kColumns + 9] = 3;
  got[900 * kColumns + 1] = 9;
  got[1023 * kColumns + 1499] = 1.5f;  // within the tolerance
  const auto result = compare(floats(got), floats(expected), type, {.absolute = 1});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->bad, 2);
  EXPECT_EQ(result->elements, kRows * kColumns);
  EXPECT_THAT(result->first_bad, ElementsAre(700, 9));
  EXPECT_EQ(result->got, 3);
  EXPECT_EQ(result->worst_error, 8);
}

TEST(Compare, ToleranceIsAbsolutePlusRelative) {
  const TensorType type{ElementType::kF32, {2}};
  const Tolerance tolerance{0.5, 0.25, ""};
  EXPECT_TRUE(compare(floats({4.5f, 13}), floats({3.2f, 10}), type, tolerance)->right);  // 1.3, 3
  EXPECT_FALSE(compare(floats({4.6f, 13}), floats({3.2f, 10}), type, tolerance)->right);
  EXPECT_EQ(describe(*compare(floats({4.5f, 13}), floats({3.5f, 10}), type, tolerance)),
            "right, largest error 3");
  EXPECT_EQ(describe(*compare(floats({1, 2}), floats({1, 2}), type, {})), "right, no difference");
}

TEST(Compare, ZerosNaNsAndInfinities) {
  const TensorType type{ElementType::kF32, {2}};
  EXPECT_TRUE(compare(floats({-0.0f, 1}), floats({0.0f, 1}), type, {})->right);
  EXPECT_TRUE(compare(floats({kFloatNan, 1}), floats({-kFloatNan, 1}), type, {})->right);
  EXPECT_TRUE(compare(floats({kFloatInfinity, 1}), floats({kFloatInfinity, 1}), type, {})->right);
  const Tolerance loose{1e30, 1, ""};
  const auto nan = compare(floats({1, kFloatNan}), floats({1, 2}), type, loose);
  EXPECT_FALSE(nan->right);
  EXPECT_EQ(nan->nan_count, 1);
  EXPECT_THAT(nan->first_bad, ElementsAre(1));
  EXPECT_FALSE(compare(floats({1, 2}), floats({1, kFloatNan}), type, loose)->right);
  EXPECT_FALSE(compare(floats({1, kFloatInfinity}), floats({1, 2}), type, loose)->right);
  EXPECT_FALSE(compare(floats({1, 2}), floats({1, kFloatInfinity}), type, loose)->right);
  EXPECT_FALSE(
      compare(floats({1, -kFloatInfinity}), floats({1, kFloatInfinity}), type, loose)->right);
}

TEST(Compare, IntegersAreComparedAsIntegers) {
  // 2^60 and 2^60 + 1 are one double.
  const TensorType type{ElementType::kI64, {1}};
  Bytes got(8), expected(8);
  store_integer(got.data(), ElementType::kI64, (std::int64_t{1} << 60) + 1);
  store_integer(expected.data(), ElementType::kI64, std::int64_t{1} << 60);
  EXPECT_FALSE(compare(got, expected, type, {})->right);
  EXPECT_TRUE(compare(got, expected, type, {.absolute = 1})->right);
  store_integer(got.data(), ElementType::kI64, std::numeric_limits<std::int64_t>::min());
  EXPECT_DOUBLE_EQ(compare(got, expected, type, {})->worst_error, 9223372036854775808.0 + 0x1p60);
}

TEST(Compare, AScalarHasAnEmptyIndexAndBuffersMayBeLonger) {
  const TensorType scalar{ElementType::kF32, {}};
  const auto result = compare(floats({1, 7}), floats({2, 8}), scalar, {});
  EXPECT_EQ(result->elements, 1);
  EXPECT_FALSE(result->right);
  EXPECT_THAT(result->first_bad, IsEmpty());
  EXPECT_EQ(describe(*result), "wrong: 1 of 1 elements (100 %), first at []: expected 2, got 1");
}

TEST(Compare, RefusesShortBuffersAndUnknownShapes) {
  EXPECT_THAT(compare(floats({1}), floats({1, 2}), {ElementType::kF32, {2}}, {}).error().message,
              HasSubstr("the output has 4, the reference 8"));
  EXPECT_FALSE(compare(floats({1}), floats({1}), {ElementType::kF32, {problem::kDynamic}}, {}));
}

TEST(Poison, IsNaNForFloats) {
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16, ElementType::kF32,
                                 ElementType::kF64, ElementType::kF8E4M3, ElementType::kF8E5M2})
    for (const int variant : {0, 1}) {
      Bytes bytes(16);
      poison(bytes, type, variant);
      EXPECT_TRUE(std::isnan(element(bytes, type, 0))) << name_of(type);
      EXPECT_TRUE(std::isnan(element(bytes, type, 1))) << name_of(type);
    }
}

TEST(Poison, ShowsWhatWasWritten) {
  Bytes bytes(12);
  poison(bytes, ElementType::kF32, 0);
  set_element(bytes, ElementType::kF32, 1, std::nan(""));  // NaN, but not the poison
  std::vector<bool> written;
  add_written(bytes, ElementType::kF32, 0, written);
  EXPECT_THAT(written, ElementsAre(false, true, false));
}

TEST(Poison, TwoVariantsAreExactForBytes) {
  // A kernel that writes 0xA5, 0x5A and leaves the third element.
  std::vector<bool> written;
  for (const int variant : {0, 1}) {
    Bytes bytes(3);
    poison(bytes, ElementType::kI8, variant);
    bytes[0] = std::byte{0xA5};
    bytes[1] = std::byte{0x5A};
    add_written(bytes, ElementType::kI8, variant, written);
  }
  EXPECT_THAT(written, ElementsAre(true, true, false));
}

TEST(CompareWritten, NamesTheFirstElementThatDiffers) {
  const TensorType type{ElementType::kF32, {2, 2}};
  const std::vector<bool> all(4, true), part{true, true, false, false};
  EXPECT_TRUE(compare_written(part, part, type)->right);
  const auto missing = compare_written(part, all, type);
  EXPECT_THAT(missing->first_bad, ElementsAre(1, 0));
  EXPECT_EQ(missing->expected, 1);
  EXPECT_EQ(missing->got, 0);
  EXPECT_DOUBLE_EQ(missing->share, 0.5);
  EXPECT_FALSE(compare_written(all, part, type)->right);  // writes what it should not
  EXPECT_FALSE(compare_written({}, all, type));
}

TEST(ToleranceFor, ABareContractionIsExact) {
  const Tolerance tolerance =
      tolerance_for(matmul_dispatch(512, 512, 512, ElementType::kF32, ElementType::kF32));
  EXPECT_EQ(tolerance.absolute, 0);
  EXPECT_EQ(tolerance.relative, 0);
  EXPECT_THAT(tolerance.basis,
              StartsWith("exact: sums of 512 terms of integers of magnitude 1 to"));
}

TEST(ToleranceFor, AConversionBehindItIsExactToo) {
  problem::Dispatch dispatch = matmul_dispatch(512, 512, 512, ElementType::kF16, ElementType::kF32);
  dispatch.fused = {"fill", "elementwise(arith.truncf)"};
  dispatch.bindings[2].type.element = ElementType::kF16;
  EXPECT_EQ(tolerance_for(dispatch).absolute, 0);
}

TEST(ToleranceFor, AGeluIsTightEnoughToShowRoundingToF16) {
  for (const std::int64_t k : {64, 768, 5120}) {
    const Tolerance tolerance = tolerance_for(gelu_dispatch(128, 3072, k));
    // One rounding to f16 is up to 2^-12 = 2.4e-4 for values of 0.5 to 1.
    EXPECT_LT(tolerance.absolute + tolerance.relative, 2.4e-4) << k;
    // And not below what two polynomials for erf may differ by.
    EXPECT_GT(tolerance.absolute, 5e-6) << k;
  }
}

TEST(ToleranceFor, NarrowOutputsAndIntegersAndReductions) {
  // A narrow output is rounded once more, by the candidate and by the reference: 2 x 2^-11.
  const problem::Dispatch narrow =
      gelu_dispatch(128, 64, 512, ElementType::kF32, ElementType::kF16);
  const InputPlan plan = plan_inputs(narrow);
  const double f32 = tolerances_for(gelu_dispatch(128, 64, 512), plan)[3].relative;
  EXPECT_NEAR(tolerances_for(narrow, plan)[3].relative - f32, 2 * std::ldexp(1, -11), 1e-9);

  problem::Dispatch requantised = matmul_dispatch(8, 8, 64, ElementType::kI8, ElementType::kI32);
  requantised.fused = {"fill", "elementwise(arith.sitofp, arith.mulf, arith.fptosi)"};
  requantised.bindings[2].type.element = ElementType::kI8;
  EXPECT_EQ(tolerance_for(requantised).absolute, 1);
  requantised.fused = {"fill", "elementwise(arith.addi, arith.maxsi)"};
  EXPECT_EQ(tolerance_for(requantised).absolute, 0);
  EXPECT_THAT(tolerance_for(requantised).basis, StartsWith("exact"));

  problem::Dispatch summed = matmul_dispatch(64, 64, 64, ElementType::kF32, ElementType::kF32);
  summed.fused = {"fill", "elementwise(arith.addf)"};
  const double without = tolerance_for(summed).absolute;
  summed.fused = {"fill", "elementwise(arith.addf)", "reduction(arith.addf)"};
  EXPECT_GT(tolerance_for(summed).absolute, 2 * without);
  summed.fused = {"fill", "softmax"};
  EXPECT_GT(tolerance_for(summed).absolute, 2 * without);

  problem::Dispatch attention = matmul_dispatch(8, 8, 64, ElementType::kF32, ElementType::kF32);
  attention.root.kind = problem::OperationKind::kAttention;
  EXPECT_GT(tolerance_for(attention).absolute, 0);
}

}  // namespace
}  // namespace hone::measure
