// Wrong kernels of many kinds are caught, with the right first element; right ones never.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "measure/reference.h"
#include "measure/verification.h"
#include "tests/measure/kernels.h"

namespace hone::measure {
namespace {

using problem::Dispatch;
using problem::ElementType;
using testing::ElementsAre;

constexpr std::size_t kM = 24, kN = 40, kK = 96, kTile = 8;
constexpr std::uint64_t kSeed = 42;

// What a kernel does wrong; the default is right.
struct Fault {
  std::size_t skipped_workgroups = 0;  // at the end of the grid
  std::size_t dropped_terms = 0;       // of the reduction, at its end
  bool repeats_a_term = false;         // the last one
  std::size_t row_shift = 0;           // reads A one row off, from this row on (0: no)
  bool transposes_rhs = false;         // reads B (k,n) as if it were (n,k)
  bool forgets_bias = false;
  bool adds_to_output = false;
  bool swaps_columns = false;  // 1 and 2 of every vector of four
  ElementType accumulator = ElementType::kF32;
  bool truncates = false;     // the sum, instead of rounding the epilogue's result once
  bool approximates = false;  // gelu by tanh
};

float gelu(float x, bool approximates) {
  if (approximates) return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
  return x * 0.5f * (1 + std::erf(x * 0.70710678118654752f));
}

// The tiled kernel; `output` holds what was there before.
void run_kernel(const Dispatch& dispatch, const std::vector<Bytes>& in, Bytes& output,
                const Fault& fault = {}) {
  const bool fused = dispatch.bindings.size() == 4;
  const ElementType type = dispatch.bindings[0].type.element;
  const std::size_t groups = kM / kTile * (kN / kTile);
  for (std::size_t group = 0; group + fault.skipped_workgroups < groups; ++group)
    for (std::size_t i = 0; i < kTile * kTile; ++i) {
      const std::size_t m = group / (kN / kTile) * kTile + i / kTile;
      std::size_t n = group % (kN / kTile) * kTile + i % kTile;
      const std::size_t row = fault.row_shift > 0 && m >= fault.row_shift ? (m + 1) % kM : m;
      Bytes sum(8);
      for (std::size_t k = 0; k + fault.dropped_terms < kK + (fault.repeats_a_term ? 1 : 0); ++k) {
        const std::size_t at = std::min(k, kK - 1);
        const std::size_t b = fault.transposes_rhs ? n * kK + at : at * kN + n;
        const double product = element(in[0], type, row * kK + at) * element(in[1], type, b);
        set_element(sum, fault.accumulator, 0, element(sum, fault.accumulator, 0) + product);
      }
      auto value = static_cast<float>(element(sum, fault.accumulator, 0));
      if (fused) {
        if (!fault.forgets_bias) value += static_cast<float>(element(in[2], ElementType::kF32, n));
        value = gelu(value, fault.approximates);
      }
      if (fault.swaps_columns && (n % 4 == 1 || n % 4 == 2)) n ^= 3;
      const std::size_t to = m * kN + n;
      if (fault.adds_to_output) value += static_cast<float>(element(output, ElementType::kF32, to));
      if (fault.truncates) value = static_cast<float>(F16::decode(F16::encode(value)));
      set_element(output, ElementType::kF32, to, value);
    }
}

// Runs the fault on a poisoned output and compares with the right values.
Comparison check(const Dispatch& dispatch, const Fault& fault) {
  const std::vector<Bytes> in = inputs_of(dispatch, kSeed);
  const problem::TensorType& type = dispatch.bindings.back().type;
  Bytes right(byte_count(type)), got(byte_count(type));
  if (dispatch.bindings.size() == 3) {
    right = exact_contraction(dispatch.root, in[0], in[1])->output;
  } else {
    run_kernel(dispatch, in, right);
  }
  poison(got, type.element);
  run_kernel(dispatch, in, got, fault);
  return compare(got, right, type, tolerance_for(dispatch)).value();
}

const Dispatch kBare = matmul_dispatch(kM, kN, kK, ElementType::kF32, ElementType::kF32);
const Dispatch kFused = gelu_dispatch(kM, kN, kK);

TEST(RightKernels, TheTiledOneIsRight) {
  EXPECT_TRUE(check(kBare, {}).right);
  EXPECT_TRUE(check(kFused, {}).right);
}

class WrongKernels : public testing::TestWithParam<const Dispatch*> {
 protected:
  Comparison wrong(const Fault& fault) {
    const Comparison comparison = check(*GetParam(), fault);
    EXPECT_FALSE(comparison.right);
    return comparison;
  }
};
INSTANTIATE_TEST_SUITE_P(BareAndFused, WrongKernels, testing::Values(&kBare, &kFused),
                         [](const auto& test) { return test.param == &kBare ? "Bare" : "Fused"; });

TEST_P(WrongKernels, SkippedLastWorkgroup) {
  const Comparison comparison = wrong({.skipped_workgroups = 1});
  EXPECT_THAT(comparison.first_bad, ElementsAre(kM - kTile, kN - kTile));
  EXPECT_EQ(comparison.bad, static_cast<std::int64_t>(kTile * kTile));
  EXPECT_EQ(comparison.nan_count, comparison.bad);
}

TEST_P(WrongKernels, DroppedTailOfTheReduction) {
  const Comparison comparison = wrong({.dropped_terms = 1});
  EXPECT_THAT(comparison.first_bad, ElementsAre(0, 0));
  // No input is zero, so one product less shows almost everywhere even behind a gelu.
  EXPECT_GT(comparison.share, GetParam() == &kBare ? 0.9999 : 0.9);
}

TEST_P(WrongKernels, RepeatedTerm) {
  EXPECT_THAT(wrong({.repeats_a_term = true}).first_bad, ElementsAre(0, 0));
}

TEST_P(WrongKernels, WrongIndexMap) {
  const Comparison comparison = wrong({.row_shift = 17});
  EXPECT_THAT(comparison.first_bad, ElementsAre(17, 0));
  EXPECT_LE(comparison.bad, static_cast<std::int64_t>(7 * kN));
}

TEST_P(WrongKernels, SwappedLayout) {
  EXPECT_THAT(wrong({.transposes_rhs = true}).first_bad, ElementsAre(0, 0));
}

TEST_P(WrongKernels, AddsToWhatWasThere) {
  const Comparison comparison = wrong({.adds_to_output = true});
  EXPECT_THAT(comparison.first_bad, ElementsAre(0, 0));
  EXPECT_EQ(comparison.share, 1);
  EXPECT_EQ(comparison.nan_count, comparison.elements);  // the poison spreads
}

TEST_P(WrongKernels, SwappedLanes) {
  const Comparison comparison = wrong({.swaps_columns = true});
  EXPECT_THAT(comparison.first_bad, ElementsAre(0, 1));
}

TEST_P(WrongKernels, AccumulatesInANarrowerType) {
  EXPECT_GT(wrong({.accumulator = ElementType::kF16}).share, 0.1);
  EXPECT_GT(wrong({.accumulator = ElementType::kBF16}).share, 0.5);
}

TEST_P(WrongKernels, RoundsTheResultToF16) {
  EXPECT_GT(wrong({.truncates = true}).share, 0.1);
}

TEST(WrongEpilogues, MissingBias) {
  const Comparison comparison = check(kFused, {.forgets_bias = true});
  EXPECT_FALSE(comparison.right);
  EXPECT_GT(comparison.share, 0.9);
}

TEST(WrongEpilogues, AnotherFormulaForGelu) {
  EXPECT_FALSE(check(kFused, {.approximates = true}).right);  // differs by up to 1e-3
}

// Faults in the output alone, element by element.
class WrongOutput : public testing::Test {
 protected:
  void SetUp() override {
    in_ = inputs_of(kBare, kSeed);
    right_ = exact_contraction(kBare.root, in_[0], in_[1])->output;
    got_ = right_;
  }
  static std::size_t at(std::size_t m, std::size_t n) { return m * kN + n; }
  double right(std::size_t index) const { return element(right_, ElementType::kF32, index); }
  void set(std::size_t index, double value) { set_element(got_, ElementType::kF32, index, value); }
  Comparison compared() const {
    return compare(got_, right_, kBare.bindings[2].type, tolerance_for(kBare)).value();
  }

  std::vector<Bytes> in_;
  Bytes right_, got_;
};

TEST_F(WrongOutput, OneElementOffByOne) {
  set(at(13, 37), right(at(13, 37)) + 1);
  const Comparison comparison = compared();
  EXPECT_EQ(comparison.bad, 1);
  EXPECT_THAT(comparison.first_bad, ElementsAre(13, 37));
  EXPECT_EQ(comparison.worst_error, 1);
}

TEST_F(WrongOutput, OneSign) {
  set(at(23, 39), -right(at(23, 39)));
  EXPECT_THAT(compared().first_bad, ElementsAre(23, 39));
}

TEST_F(WrongOutput, NaNInOneLane) {
  for (std::size_t m = 0; m < kM; ++m) set(at(m, 5), std::nan(""));
  const Comparison comparison = compared();
  EXPECT_THAT(comparison.first_bad, ElementsAre(0, 5));
  EXPECT_EQ(comparison.nan_count, static_cast<std::int64_t>(kM));
}

TEST_F(WrongOutput, StaleFromOtherInputs) {
  const std::vector<Bytes> other = inputs_of(kBare, kSeed + 1);
  run_kernel(kBare, other, got_);
  const Comparison comparison = compared();
  EXPECT_THAT(comparison.first_bad, ElementsAre(0, 0));
  EXPECT_GT(comparison.share, 0.999);
}

TEST_F(WrongOutput, PartialWriteShowsInTheWrittenSet) {
  poison(got_, ElementType::kF32);
  Bytes whole = got_;
  run_kernel(kBare, in_, got_, {.skipped_workgroups = 1});
  run_kernel(kBare, in_, whole);
  std::vector<bool> written, expected;
  add_written(got_, ElementType::kF32, 0, written);
  add_written(whole, ElementType::kF32, 0, expected);
  const Comparison comparison = compare_written(written, expected, kBare.bindings[2].type).value();
  EXPECT_THAT(comparison.first_bad, ElementsAre(kM - kTile, kN - kTile));
}

TEST_F(WrongOutput, AccumulatesTwice) {
  run_kernel(kBare, in_, got_, {.adds_to_output = true});  // on top of a first, right run
  const Comparison comparison = compared();
  EXPECT_THAT(comparison.first_bad, ElementsAre(0, 0));
  EXPECT_EQ(comparison.got, 2 * comparison.expected);
}

TEST_F(WrongOutput, TwoRowsExchanged) {
  for (std::size_t n = 0; n < kN; ++n) {
    set(at(6, n), right(at(7, n)));
    set(at(7, n), right(at(6, n)));
  }
  EXPECT_THAT(compared().first_bad, ElementsAre(6, 0));
}

TEST_F(WrongOutput, LastColumnOfEachRowCutOff) {
  for (std::size_t m = 0; m < kM; ++m) set(at(m, kN - 1), 0);
  EXPECT_THAT(compared().first_bad, ElementsAre(0, kN - 1));
}

TEST_F(WrongOutput, TransposedOutput) {
  for (std::size_t m = 0; m < kM; ++m)
    for (std::size_t n = 0; n < kN; ++n) set(n * kM + m, right(at(m, n)));
  EXPECT_THAT(compared().first_bad, ElementsAre(0, 1));
}

// Right fused kernels that differ as two compilers' do: another order of the sum, fused
// multiply-and-add or not, another polynomial (here: double precision) for erf.
TEST(RightKernels, FusedOnesAreNeverFlagged) {
  std::uint64_t index = 0;
  const auto pick = [&](std::uint64_t below) { return random_bits(99, index++) % below; };
  double closest = 0;
  for (int repetition = 0; repetition < 400; ++repetition) {
    const ElementType in = pick(2) == 0 ? ElementType::kF32 : ElementType::kF16;
    const ElementType out = pick(2) == 0 ? ElementType::kF32 : ElementType::kF16;
    const auto m = static_cast<std::int64_t>(1 + pick(12)),
               n = static_cast<std::int64_t>(1 + pick(12)),
               k = static_cast<std::int64_t>(1 + pick(300));
    const Dispatch dispatch = gelu_dispatch(m, n, k, in, out);
    const std::vector<Bytes> buffers = inputs_of(dispatch, static_cast<std::uint64_t>(repetition));
    const Bytes sums = exact_contraction(dispatch.root, buffers[0], buffers[1])->output;
    Bytes one(byte_count(dispatch.bindings[3].type)), other(one);
    for (std::size_t i = 0; i < static_cast<std::size_t>(m * n); ++i) {
      const auto bias = static_cast<float>(
          element(buffers[2], ElementType::kF32, i % static_cast<std::size_t>(n)));
      const float x = static_cast<float>(element(sums, ElementType::kF32, i)) + bias;
      set_element(one, out, i, gelu(x, false));
      // As another device computes it: exact to the last rounding.
      const double wide = static_cast<double>(x);
      set_element(other, out, i, wide / 2 * (1 + std::erf(wide * std::sqrt(0.5))));
    }
    const Tolerance tolerance = tolerance_for(dispatch);
    const auto comparison = compare(other, one, dispatch.bindings[3].type, tolerance);
    ASSERT_TRUE(comparison->right) << describe(*comparison) << "; " << tolerance.basis;
    closest = std::max(closest, comparison->worst_error / tolerance.absolute);
  }
  std::printf("largest error: %.2f of the absolute tolerance\n", closest);
}

}  // namespace
}  // namespace hone::measure
