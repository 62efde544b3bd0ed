#include "measure/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "measure/verification.h"
#include "tests/measure/kernels.h"

namespace hone::measure {
namespace {

using problem::ElementType;
using problem::LoopRole;
using problem::OperationKind;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

template <class T>
std::vector<T> values_of(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(ExactContraction, TwoByThreeTimesThreeByTwo) {
  const auto operation = matmul_dispatch(2, 2, 3, ElementType::kF32, ElementType::kF32).root;
  const auto result = exact_contraction(operation, bytes_of<float>({1, 2, 3, 4, 5, 6}),
                                        bytes_of<float>({7, 8, 9, 10, 11, 12}));
  ASSERT_TRUE(result);
  EXPECT_THAT(values_of<float>(result->output), ElementsAre(58, 64, 139, 154));
  EXPECT_TRUE(result->exact);
  // Rows of A sum to at most 15, columns of B to 30: min(15 x 12, 30 x 6).
  EXPECT_EQ(result->absolute_sum, 180);
}

TEST(ExactContraction, TransposedAndAddedTo) {
  const auto operation = matmul_dispatch(2, 2, 3, ElementType::kI32, ElementType::kI32, true).root;
  const auto result = exact_contraction(operation, bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6}),
                                        bytes_of<std::int32_t>({7, 9, 11, 8, 10, 12}), 1,
                                        bytes_of<std::int32_t>({1, 1, 1, -154}));
  ASSERT_TRUE(result);
  EXPECT_THAT(values_of<std::int32_t>(result->output), ElementsAre(59, 65, 140, 0));
}

TEST(ExactContraction, IntegersWrapLikeHardware) {
  const auto operation = matmul_dispatch(1, 1, 2, ElementType::kI32, ElementType::kI32).root;
  const auto result = exact_contraction(operation, bytes_of<std::int32_t>({2147483647, 2147483647}),
                                        bytes_of<std::int32_t>({2147483647, 3}));
  ASSERT_TRUE(result);
  // (2^31 - 1)^2 + 3 (2^31 - 1) = 2^62 - 2^32 + 1 + 3 x 2^31 - 3 = 2^31 - 2 modulo 2^32.
  EXPECT_THAT(values_of<std::int32_t>(result->output), ElementsAre(2147483646));
  EXPECT_TRUE(result->exact);
}

TEST(ExactContraction, SaysWhenASumIsNotExact) {
  const auto wide = matmul_dispatch(1, 1, 2, ElementType::kF32, ElementType::kF32).root;
  // 2^24 + 1 takes 25 digits.
  auto result = exact_contraction(wide, bytes_of<float>({16777216, 1}), bytes_of<float>({1, 1}));
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->exact);
  EXPECT_THAT(values_of<float>(result->output), ElementsAre(16777216));  // the tie goes to even
  // Reals.
  result = exact_contraction(wide, bytes_of<float>({0.1f, 0.7f}), bytes_of<float>({0.3f, 1.1f}));
  EXPECT_FALSE(result->exact);
  // Powers of two below one are as exact as integers.
  result = exact_contraction(wide, bytes_of<float>({0.375f, -2}), bytes_of<float>({0.5f, 0.25f}));
  EXPECT_TRUE(result->exact);
  EXPECT_THAT(values_of<float>(result->output), ElementsAre(-0.3125f));
}

TEST(ExactContraction, ZerosAndNaNs) {
  const auto operation = matmul_dispatch(1, 1, 2, ElementType::kF32, ElementType::kF32).root;
  auto result = exact_contraction(operation, bytes_of<float>({0, 0}), bytes_of<float>({3, 0.1f}));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->exact);
  EXPECT_THAT(values_of<float>(result->output), ElementsAre(0));
  result =
      exact_contraction(operation, bytes_of<float>({std::nanf(""), 0}), bytes_of<float>({3, 0.1f}));
  EXPECT_FALSE(result->exact);
  EXPECT_TRUE(std::isnan(values_of<float>(result->output)[0]));
}

TEST(ExactContraction, RefusesWhatItCannotCompute) {
  auto operation = matmul_dispatch(2, 2, 2, ElementType::kF32, ElementType::kF32).root;
  const Bytes four(16), three(12);
  EXPECT_THAT(exact_contraction(operation, three, four).error().message,
              HasSubstr("the left input of linalg.matmul (2x2xf32) takes 16 bytes, got 12"));
  EXPECT_THAT(exact_contraction(operation, four, four, 1, three).error().message,
              HasSubstr("output"));
  auto strange = operation;
  strange.operands[1].loops[0] = -1;
  EXPECT_THAT(exact_contraction(strange, four, four).error().message,
              HasSubstr("dimension 0 of the right input"));
  strange = operation;
  strange.operands[1].loops.pop_back();
  EXPECT_FALSE(exact_contraction(strange, four, four));
  strange = operation;
  strange.loops[2].size = 3;
  EXPECT_THAT(exact_contraction(strange, four, four).error().message, HasSubstr("its loop 3"));
  strange.loops[2].size = problem::kDynamic;
  EXPECT_THAT(exact_contraction(strange, four, four).error().message, HasSubstr("run time"));
  operation.kind = OperationKind::kConvolution;
  EXPECT_THAT(exact_contraction(operation, four, four).error().message,
              HasSubstr("no contraction"));
}

// A random contraction: one to five loops of one to seven iterations, each in a random set of
// operands, dimensions in random order.
problem::Dispatch random_contraction(std::uint64_t seed) {
  std::uint64_t index = 0;
  const auto pick = [&](std::uint64_t below) { return random_bits(seed, index++) % below; };
  constexpr std::array<std::pair<ElementType, ElementType>, 9> kTypes{
      {{ElementType::kF32, ElementType::kF32},
       {ElementType::kF16, ElementType::kF32},
       {ElementType::kF16, ElementType::kF16},
       {ElementType::kBF16, ElementType::kF32},
       {ElementType::kBF16, ElementType::kBF16},
       {ElementType::kF8E4M3, ElementType::kF32},
       {ElementType::kI8, ElementType::kI32},
       {ElementType::kI32, ElementType::kI32},
       {ElementType::kF64, ElementType::kF64}}};
  const auto [in, out] = kTypes[pick(kTypes.size())];
  problem::Dispatch dispatch = matmul_dispatch(1, 1, 1, in, out);
  dispatch.root.kind = OperationKind::kContraction;
  dispatch.root.loops.clear();
  for (problem::Operand& operand : dispatch.root.operands) operand.loops.clear();
  const std::size_t loops = 1 + pick(5);
  for (std::size_t l = 0; l < loops; ++l) {
    // batch, m, n, k, or (rarely) a reduction or output dimension of one operand alone.
    constexpr int kUses[] = {0b111, 0b101, 0b110, 0b011, 0b101, 0b110, 0b011, 0b001, 0b100};
    const int use = kUses[pick(std::size(kUses))];
    const bool reduction = (use & 0b100) == 0;
    dispatch.root.loops.push_back(
        {reduction, static_cast<std::int64_t>(1 + pick(7)), LoopRole::kOther});
    for (std::size_t o = 0; o < 3; ++o) {
      if ((use >> o & 1) == 0) continue;
      auto& dims = dispatch.root.operands[o].loops;
      dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(pick(dims.size() + 1)),
                  static_cast<int>(l));
    }
  }
  for (std::size_t o = 0; o < 3; ++o) {
    problem::Operand& operand = dispatch.root.operands[o];
    operand.type.shape.clear();
    for (const int loop : operand.loops)
      operand.type.shape.push_back(dispatch.root.loops[static_cast<std::size_t>(loop)].size);
    dispatch.bindings[o].type = operand.type;
  }
  return dispatch;
}

TEST(ExactContraction, RightKernelsInAnyOrderGiveItsBits) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const problem::Dispatch dispatch = random_contraction(seed);
    const problem::Operation& operation = dispatch.root;
    const std::vector<Bytes> buffers = inputs_of(dispatch, seed);
    const auto reference = exact_contraction(operation, buffers[0], buffers[1]);
    ASSERT_TRUE(reference) << reference.error().message;
    ASSERT_TRUE(reference->exact) << describe(operation);
    const problem::TensorType& type = operation.operands[2].type;
    for (const bool reversed : {false, true}) {
      const Bytes got =
          plain_contraction(operation, buffers[0], buffers[1], type.element, reversed);
      const auto comparison = compare(got, reference->output, type, tolerance_for(dispatch));
      ASSERT_TRUE(comparison);
      ASSERT_TRUE(comparison->right)
          << seed << ": " << describe(operation) << ", " << describe(*comparison);
      ASSERT_EQ(comparison->worst_error, 0);
    }
  }
}

TEST(ExactContraction, SumsOfSeveralOrdersInFloatAreBitEqual) {
  // K of the f16 example; forwards, backwards and in 16 partial sums like a vector kernel.
  constexpr std::size_t kDepth = 1280;
  const auto dispatch = matmul_dispatch(16, 16, kDepth, ElementType::kF16, ElementType::kF32);
  const std::vector<Bytes> buffers = inputs_of(dispatch, 5);
  const auto reference = exact_contraction(dispatch.root, buffers[0], buffers[1]);
  ASSERT_TRUE(reference);
  for (std::size_t m = 0; m < 16; ++m)
    for (std::size_t n = 0; n < 16; ++n) {
      float forwards = 0, backwards = 0;
      std::array<float, 16> lanes{};
      for (std::size_t k = 0; k < kDepth; ++k) {
        const auto product = [&](std::size_t at) {
          return static_cast<float>(element(buffers[0], ElementType::kF16, m * kDepth + at) *
                                    element(buffers[1], ElementType::kF16, at * 16 + n));
        };
        forwards += product(k);
        backwards += product(kDepth - 1 - k);
        lanes[k % 16] += product(k);
      }
      float joined = 0;
      for (const float lane : lanes) joined += lane;
      const auto expected =
          static_cast<float>(element(reference->output, ElementType::kF32, m * 16 + n));
      ASSERT_EQ(forwards, expected);
      ASSERT_EQ(backwards, expected);
      ASSERT_EQ(joined, expected);
    }
}

TEST(ExactContraction, SparseBf16SumsAreProvenExact) {
  const auto dispatch = matmul_dispatch(16, 16, 4096, ElementType::kBF16, ElementType::kBF16);
  const std::vector<Bytes> buffers = inputs_of(dispatch, 5);
  const auto reference = exact_contraction(dispatch.root, buffers[0], buffers[1]);
  ASSERT_TRUE(reference);
  const Bytes got =
      plain_contraction(dispatch.root, buffers[0], buffers[1], ElementType::kBF16, true);
  EXPECT_EQ(got, reference->output);
}

TEST(ExactContraction, ThreadsGiveTheSameBits) {
  const auto dispatch = matmul_dispatch(300, 70, 65, ElementType::kF32, ElementType::kF32);
  const std::vector<Bytes> buffers = inputs_of(dispatch, 9);
  const auto one = exact_contraction(dispatch.root, buffers[0], buffers[1], 1);
  ASSERT_TRUE(one);
  for (const int threads : {0, 2, 3, 4, 64}) {
    const auto several = exact_contraction(dispatch.root, buffers[0], buffers[1], threads);
    ASSERT_TRUE(several);
    EXPECT_EQ(one->output, several->output) << threads;
  }
}

TEST(BindingsOfOperands, FollowTypesAndOrder) {
  problem::Dispatch dispatch = matmul_dispatch(4, 6, 8, ElementType::kF32, ElementType::kF32);
  EXPECT_EQ(bindings_of_operands(dispatch), (std::vector<std::size_t>{0, 1, 2}));
  // A unit batch that the binding still has.
  dispatch.bindings[0].type.shape = {1, 4, 8};
  EXPECT_TRUE(bindings_of_operands(dispatch));
  std::swap(dispatch.bindings[0], dispatch.bindings[1]);
  EXPECT_EQ(bindings_of_operands(dispatch), std::nullopt);  // (8, 6) does not fit the left input
  EXPECT_EQ(bindings_of_operands(gelu_dispatch(4, 6, 8)), std::nullopt);
  // A buffer of transients, longer than the operand, holds it at an offset.
  dispatch = matmul_dispatch(4, 6, 8, ElementType::kF32, ElementType::kF32);
  dispatch.bindings[0].bytes += 512;
  EXPECT_EQ(bindings_of_operands(dispatch), std::nullopt);
}

}  // namespace
}  // namespace hone::measure
