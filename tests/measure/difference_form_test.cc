#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>

#include "measure/array_difference.h"
#include "measure/half.h"

namespace hone::measure {
namespace {

using At = std::function<double(int row, int column)>;

constexpr int kRows = 16, kColumns = 12;

problem::Array array_of(const At& at) {
  problem::Array array{{problem::ElementType::kF32, {kRows, kColumns}}, {}};
  array.bytes.resize(std::size_t{kRows} * kColumns * sizeof(float));
  auto* to = reinterpret_cast<std::byte*>(array.bytes.data());
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column, to += sizeof(float))
      store_element(to, problem::ElementType::kF32, at(row, column));
  return array;
}

double right(int row, int column) {
  return std::sin(1.3 * row * row + 2.1 * column);
}

DifferenceForm form_of(const At& got) {
  return form_of_difference(array_of(got), array_of(right), {1e-6, 1e-6, ""}).value();
}

TEST(DifferenceForm, IsAPartWhereTheRestIsRight) {
  const DifferenceForm form =
      form_of([](int row, int column) { return row < 4 ? 0 : right(row, column); });
  EXPECT_EQ(form.kind, DifferenceKind::kPart);
  EXPECT_EQ(form.words, "only in [0:4, 0:12]");
}

TEST(DifferenceForm, IsAShiftWhereElementsAreOthers) {
  const DifferenceForm form = form_of([](int row, int column) { return right(row + 1, column); });
  EXPECT_EQ(form.kind, DifferenceKind::kShift);
  EXPECT_EQ(form.words, "each element is the one 1 places further along dimension 0");
}

TEST(DifferenceForm, IsAFactor) {
  const DifferenceForm form = form_of([](int row, int column) { return right(row, column) / 8; });
  EXPECT_EQ(form.kind, DifferenceKind::kFactor);
  EXPECT_EQ(form.words, "0.125 times the right values");
}

TEST(DifferenceForm, IsATermAsABiasIs) {
  const DifferenceForm form =
      form_of([](int row, int column) { return right(row, column) + std::cos(column); });
  EXPECT_EQ(form.kind, DifferenceKind::kTerm);
  EXPECT_EQ(form.words, "one term for each index of dimension 1 is added or missing");
}

TEST(DifferenceForm, IsRoundingWhereDigitsAgree) {
  const DifferenceForm form =
      form_of([](int row, int column) { return BF16::decode(BF16::encode(right(row, column))); });
  EXPECT_EQ(form.kind, DifferenceKind::kRounding);
  EXPECT_THAT(form.words, testing::HasSubstr("binary digits agree"));
}

TEST(DifferenceForm, IsNaNWhatever) {
  const DifferenceForm form = form_of([](int row, int column) {
    return row == 3 ? std::numeric_limits<double>::quiet_NaN() : right(row, column);
  });
  EXPECT_EQ(form.kind, DifferenceKind::kNaN);
  EXPECT_EQ(form.words, "12 elements are NaN");
}

// One infinite element would explain any form.
TEST(DifferenceForm, IsNoneWhereTheDifferenceIsInfinite) {
  const DifferenceForm form = form_of([](int row, int column) {
    const double wrong = right(column, row * 7 + 3);
    return row == 3 && column == 3 ? std::numeric_limits<double>::infinity() : wrong;
  });
  EXPECT_EQ(form.kind, DifferenceKind::kNone);
}

TEST(DifferenceForm, IsNoneWhereEverythingIsAnother) {
  EXPECT_EQ(form_of([](int row, int column) { return right(column, row * 7 + 3); }).kind,
            DifferenceKind::kNone);
}

}  // namespace
}  // namespace hone::measure
