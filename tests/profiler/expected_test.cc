// What an operation must compute, by its name: values worked out by hand.
#include "profiler/expected.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/file.h"
#include "measure/half.h"

namespace hone::profiler {
namespace {

double at(const problem::Array& array, std::size_t i) {
  const auto size = static_cast<std::size_t>(problem::byte_size(array.type.element));
  return measure::load_element(reinterpret_cast<const std::byte*>(array.bytes.data()) + i * size,
                               array.type.element);
}

ExpectedValues expected(const std::string& name) {
  const auto operation = parse_operation(name);
  EXPECT_TRUE(operation) << operation.error().message;
  auto expected = expected_of(*operation, 42, 2);
  EXPECT_TRUE(expected);
  return std::move(*expected);
}

TEST(ExpectedValues, AProductIsTheSumOverKInEitherLayout) {
  const ExpectedValues rows = expected("matmul_3x5x4_f32t_f32t_f32t");
  const ExpectedValues columns = expected("matmul_3x5x4_f32n_f32n_f32t");
  for (std::size_t m = 0; m < 3; ++m)
    for (std::size_t n = 0; n < 5; ++n) {
      double by_rows = 0, by_columns = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        by_rows += at(rows.inputs[0], m * 4 + k) * at(rows.inputs[1], k * 5 + n);
        by_columns += at(columns.inputs[0], k * 3 + m) * at(columns.inputs[1], n * 4 + k);
      }
      EXPECT_EQ(at(rows.output, m * 5 + n), by_rows);
      EXPECT_EQ(at(columns.output, m * 5 + n), by_columns);
    }
  EXPECT_EQ(rows.tolerance.absolute, 0);
}

TEST(ExpectedValues, BiasAndActivationFollowTheSum) {
  const ExpectedValues relu = expected("matmul_bias_relu_2x3x4_f32t_f32t_f32t");
  const ExpectedValues gelu = expected("matmul_bias_gelu_2x3x4_f32t_f32t_f32t");
  const ExpectedValues add = expected("matmul_bias_add_2x3x4_f32t_f32t_f32t");
  for (std::size_t m = 0; m < 2; ++m)
    for (std::size_t n = 0; n < 3; ++n) {
      const auto sum = [&](const ExpectedValues& of) {
        double value = at(of.inputs[2], n);
        for (std::size_t k = 0; k < 4; ++k)
          value += at(of.inputs[0], m * 4 + k) * at(of.inputs[1], k * 3 + n);
        return value;
      };
      const std::size_t i = m * 3 + n;
      EXPECT_EQ(at(relu.output, i), std::max(0.0, sum(relu)));
      const double x = sum(gelu);
      EXPECT_NEAR(at(gelu.output, i), x / 2 * (1 + std::erf(x / std::sqrt(2.0))),
                  1e-6 * std::abs(x));
      EXPECT_EQ(at(add.output, i), sum(add) + at(add.inputs[3], i));
    }
}

// Stride, dilation, border and groups in both layouts, each output element by the definition.
TEST(ExpectedValues, AConvolutionWalksItsFilter) {
  for (const bool nhwc : {true, false}) {
    const std::string name = nhwc
                                 ? "conv2d_2x7x6x4_6x3x2_s2x1_d1x2_p1x1_g2_f32nhwc_f32hwcf_f32nhwc"
                                 : "conv2d_2x7x6x4_6x3x2_s2x1_d1x2_p1x1_g2_f32nchw_f32fchw_f32nchw";
    const ExpectedValues conv = expected(name);
    // Output: (7 + 2 - 3) / 2 + 1 = 4 high, (6 + 2 - 3) / 1 + 1 = 6 wide.
    const std::vector<std::int64_t> shape =
        nhwc ? std::vector<std::int64_t>{2, 4, 6, 6} : std::vector<std::int64_t>{2, 6, 4, 6};
    ASSERT_EQ(conv.output.type.shape, shape);
    for (int n = 0; n < 2; ++n)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 6; ++x)
          for (int f = 0; f < 6; ++f) {
            double sum = 0;
            for (int fy = 0; fy < 3; ++fy)
              for (int fx = 0; fx < 2; ++fx)
                for (int c = 0; c < 2; ++c) {
                  const int iy = y * 2 + fy - 1, ix = x + fx * 2 - 1;
                  if (iy < 0 || iy >= 7 || ix < 0 || ix >= 6) continue;
                  const int channel = f / 3 * 2 + c;
                  const int image = nhwc ? ((n * 7 + iy) * 6 + ix) * 4 + channel
                                         : ((n * 4 + channel) * 7 + iy) * 6 + ix;
                  const int filter =
                      nhwc ? ((fy * 2 + fx) * 2 + c) * 6 + f : ((f * 2 + c) * 3 + fy) * 2 + fx;
                  sum += at(conv.inputs[0], static_cast<std::size_t>(image)) *
                         at(conv.inputs[1], static_cast<std::size_t>(filter));
                }
            const int out = nhwc ? ((n * 4 + y) * 6 + x) * 6 + f : ((n * 6 + f) * 4 + y) * 6 + x;
            EXPECT_EQ(at(conv.output, static_cast<std::size_t>(out)), sum)
                << name << " " << n << " " << y << " " << x << " " << f;
          }
  }
}

TEST(ExpectedValues, AttentionWeighsValuesByTheSoftmaxOfScores) {
  const ExpectedValues attention = expected("attention_2x3x5x4_f32t_f32t_f32t");
  for (std::size_t head = 0; head < 2; ++head)
    for (std::size_t m = 0; m < 3; ++m) {
      double total = 0;
      double sums[4] = {};
      for (std::size_t n = 0; n < 5; ++n) {
        double score = 0;
        for (std::size_t e = 0; e < 4; ++e)
          score += at(attention.inputs[0], (head * 3 + m) * 4 + e) *
                   at(attention.inputs[1], (head * 5 + n) * 4 + e);
        const double weight = std::exp(score / 2);  // sqrt(4)
        total += weight;
        for (std::size_t e = 0; e < 4; ++e)
          sums[e] += weight * at(attention.inputs[2], (head * 5 + n) * 4 + e);
      }
      for (std::size_t e = 0; e < 4; ++e)
        EXPECT_NEAR(at(attention.output, (head * 3 + m) * 4 + e), sums[e] / total, 1e-6);
    }
}

// f16 holds whole numbers to 2048 exactly: however a right kernel adds up, its bits are these.
TEST(ExpectedValues, PartialSumsStayExactInTheTypeTheyAddUpIn) {
  for (const char* name : {"matmul_3x4x16384_f16t_f16t_f16t", "matmul_3x4x700_f16t_f16t_f16t",
                           "matmul_splitk_3x4x16384_f16t_f16t_f16t_parallel4"}) {
    const ExpectedValues narrow = expected(name);
    for (std::size_t m = 0; m < 3; ++m) {
      double absolute = 0, not_zero = 0;
      const auto k = static_cast<std::size_t>(parse_operation(name)->k);
      for (std::size_t i = 0; i < k; ++i) {
        const double value = std::abs(at(narrow.inputs[0], m * k + i));
        absolute += value * 3;  // the largest that rhs may hold
        not_zero += value > 0 ? 1 : 0;
      }
      double largest = 0;
      for (std::size_t i = 0; i < k * 4; ++i)
        largest = std::max(largest, std::abs(at(narrow.inputs[1], i)));
      EXPECT_LE(absolute / 3 * largest, 2048) << name;
      EXPECT_GE(not_zero, 500) << name;
    }
  }
}

TEST(ExpectedValues, WhatIsKeptCountsOnlyWhole) {
  const auto folder = TemporaryFolder::create("hone-expected-");
  ASSERT_TRUE(folder);
  const auto operation = parse_operation("matmul_2048x1024x2048_s8t_s8t_s32t");
  ASSERT_TRUE(operation);
  const auto first = cached_expected(*operation, 42, 2, folder->path());
  ASSERT_TRUE(first);
  const std::filesystem::path file = folder->path() / "result.npy";
  ASSERT_TRUE(std::filesystem::exists(file));
  const std::string whole = *read_file(file);
  std::string bad = whole;
  bad.back() = static_cast<char>(bad.back() + 1);
  for (const std::string& damaged : {bad, whole.substr(0, 1000)}) {
    ASSERT_TRUE(write_file_atomically(file, damaged));
    const auto again = cached_expected(*operation, 42, 2, folder->path());
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->output.bytes == first->output.bytes);
    EXPECT_TRUE(*read_file(file) == whole);
  }
}

}  // namespace
}  // namespace hone::profiler
