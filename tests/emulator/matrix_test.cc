// Matrix products against sums by the layouts of AMD's matrix instruction calculator, written down
// here once more.
#include <random>

#include "tests/emulator/one_wave.h"

namespace hone::emulator {
namespace {

// Of one instruction: A is size x depth, B depth x size; each lane holds depth * size / 64
// consecutive k.
struct Shape {
  int size;
  int depth;
  int values_of_dword;
};

using Encode = std::uint32_t (*)(int);

// Fills v0.. with A and v8.. with B of small integers, runs, and compares 32-bit results in v16..
// with C of v32... .
void expect_product(const std::string& name, Shape shape, Encode encode_a, Encode encode_b,
                    bool integers) {
  SCOPED_TRACE(name);
  OneWave wave;
  std::mt19937 random(7);
  std::uniform_int_distribution<int> small(-3, 3);
  const int per_lane = shape.depth * shape.size / 64;
  const int width = 32 / shape.values_of_dword;
  std::vector<int> a(static_cast<std::size_t>(shape.size * shape.depth));
  std::vector<int> b(a.size());
  for (int lane = 0; lane < 64; ++lane) {
    for (int j = 0; j < per_lane; ++j) {
      const int row = lane % shape.size;
      const int k = lane / shape.size * per_lane + j;
      const auto at = static_cast<std::size_t>(row * shape.depth + k);
      a[at] = small(random);
      b[at] = small(random);
      const auto reg = static_cast<std::size_t>(j / shape.values_of_dword);
      const int shift = j % shape.values_of_dword * width;
      wave.v(reg, static_cast<std::size_t>(lane)) |= encode_a(a[at]) << shift;
      wave.v(8 + reg, static_cast<std::size_t>(lane)) |= encode_b(b[at]) << shift;
    }
  }
  const int registers = shape.size * shape.size / 64;
  const auto encode = [&](int x) {
    return integers ? static_cast<std::uint32_t>(x) : bits(static_cast<float>(x));
  };
  for (int reg = 0; reg < registers; ++reg) {
    for (std::size_t lane = 0; lane < 64; ++lane)
      wave.v(static_cast<std::size_t>(32 + reg), lane) = encode(reg);
  }
  const int dwords = (per_lane + shape.values_of_dword - 1) / shape.values_of_dword;
  const auto range = [](char kind, int first, int count) {
    return count == 1 ? fmt::format("{}{}", kind, first)
                      : fmt::format("{}[{}:{}]", kind, first, first + count - 1);
  };
  wave->set_scalar64(kExec, 1);  // without effect
  wave.run(fmt::format("{} {}, {}, {}, {}", name, range('v', 16, registers), range('v', 0, dwords),
                       range('v', 8, dwords), range('v', 32, registers)));
  for (int lane = 0; lane < 64; ++lane) {
    for (int reg = 0; reg < registers; ++reg) {
      const int column = lane % shape.size;
      const int row =
          shape.size == 16 ? 4 * (lane / 16) + reg : 8 * (reg / 4) + 4 * (lane / 32) + reg % 4;
      int sum = reg;
      for (int k = 0; k < shape.depth; ++k) {
        sum += a[static_cast<std::size_t>(row * shape.depth + k)] *
               b[static_cast<std::size_t>(column * shape.depth + k)];
      }
      EXPECT_EQ(wave.v(static_cast<std::size_t>(16 + reg), static_cast<std::size_t>(lane)),
                encode(sum))
          << "row " << row << ", column " << column;
    }
  }
}

std::uint32_t as_f32(int x) {
  return bits(static_cast<float>(x));
}
std::uint32_t as_f16(int x) {
  return half(static_cast<float>(x));
}
std::uint32_t as_bf16(int x) {
  return float_to_bfloat(static_cast<float>(x));
}
std::uint32_t as_fp8(int x) {
  return float_to_fp8(static_cast<float>(x), true);
}
std::uint32_t as_bf8(int x) {
  return float_to_bf8(static_cast<float>(x), true);
}
std::uint32_t as_i8(int x) {
  return static_cast<std::uint32_t>(x) & 0xff;
}

TEST(Matrix, ProductsInTheLayoutsOfTheHardware) {
  expect_product("v_mfma_f32_16x16x4_f32", {16, 4, 1}, as_f32, as_f32, false);
  expect_product("v_mfma_f32_32x32x2_f32", {32, 2, 1}, as_f32, as_f32, false);
  expect_product("v_mfma_f32_16x16x8_xf32", {16, 8, 1}, as_f32, as_f32, false);
  expect_product("v_mfma_f32_16x16x16_f16", {16, 16, 2}, as_f16, as_f16, false);
  expect_product("v_mfma_f32_32x32x8_f16", {32, 8, 2}, as_f16, as_f16, false);
  expect_product("v_mfma_f32_16x16x16_bf16", {16, 16, 2}, as_bf16, as_bf16, false);
  expect_product("v_mfma_f32_32x32x8_bf16", {32, 8, 2}, as_bf16, as_bf16, false);
  expect_product("v_mfma_f32_16x16x32_fp8_fp8", {16, 32, 4}, as_fp8, as_fp8, false);
  expect_product("v_mfma_f32_16x16x32_bf8_bf8", {16, 32, 4}, as_bf8, as_bf8, false);
  expect_product("v_mfma_f32_16x16x32_bf8_fp8", {16, 32, 4}, as_bf8, as_fp8, false);
  expect_product("v_mfma_f32_32x32x16_fp8_fp8", {32, 16, 4}, as_fp8, as_fp8, false);
  expect_product("v_mfma_i32_16x16x32_i8", {16, 32, 4}, as_i8, as_i8, true);
  expect_product("v_mfma_i32_32x32x16_i8", {32, 16, 4}, as_i8, as_i8, true);
}

TEST(Matrix, Xf32KeepsTenBitsOfMantissa) {
  OneWave wave;
  wave.set_v64(0, bits(1.0f + 0x1p-10f));  // one value of two
  wave.set_v64(8, bits(1.0f + 0x1p-12f));  // below the last bit kept
  wave.run("v_mfma_f32_16x16x8_xf32 a[0:3], v[0:1], v[8:9], 0");
  EXPECT_EQ(number(wave.v(kAccumulators)), 4 * (1.0f + 0x1p-10f));
}

TEST(Matrix, ProductsOfDoubles) {
  OneWave wave;
  for (std::size_t lane = 0; lane < 64; ++lane) {
    const auto put = [&](std::size_t reg, double value) {
      const auto x = std::bit_cast<std::uint64_t>(value);
      wave.v(reg, lane) = static_cast<std::uint32_t>(x);
      wave.v(reg + 1, lane) = static_cast<std::uint32_t>(x >> 32);
    };
    put(0, static_cast<double>(lane % 16));              // A[row][k] = row
    put(2, static_cast<double>(lane / 16 + lane % 16));  // B[k][column] = k + column
  }
  wave.run("v_mfma_f64_16x16x4_f64 v[8:15], v[0:1], v[2:3], 1.0");
  for (std::size_t lane = 0; lane < 64; ++lane) {
    for (std::size_t reg = 0; reg < 4; ++reg) {
      const double row = static_cast<double>(4 * reg + lane / 16);
      const double column = static_cast<double>(lane % 16);
      EXPECT_EQ(std::bit_cast<double>(wave.v64(8 + 2 * reg, lane)), 1 + row * (6 + 4 * column));
    }
  }
}

}  // namespace
}  // namespace hone::emulator
