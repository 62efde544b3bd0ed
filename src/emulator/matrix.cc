// Matrix products: VOP3P-MAI without the sparse ones (MI300 ISA, chapter "Matrix Arithmetic
// Instructions").
//
// D = A * B + C of Blocks products of M x K by K x M. EXEC, MODE and DPP have no effect. Layouts of
// A, B, C and D over lanes and registers: MI300 ISA, section "Dense matrix layouts", and AMD's
// matrix instruction calculator. Sums are made in the order of k, each with one rounding; the order
// within the hardware is not published.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "emulator/lanes.h"

namespace hone::emulator {
namespace {

using u32 = std::uint32_t;

// Elements as they lie in a lane's registers: several in a dword.
struct ElementF32 {
  using Value = float;
  static constexpr int kPerDword = 1;
  static float of(u32 dword, int) { return float_of(dword); }
};
struct ElementXf32 {
  using Value = float;
  static constexpr int kPerDword = 1;
  static float of(u32 dword, int) { return to_xf32(float_of(dword)); }
};
struct ElementF16 {
  using Value = float;
  static constexpr int kPerDword = 2;
  static float of(u32 dword, int part) { return half_to_float(dword >> 16 * part & 0xffff); }
};
struct ElementBf16 {
  using Value = float;
  static constexpr int kPerDword = 2;
  static float of(u32 dword, int part) { return bfloat_to_float(dword >> 16 * part & 0xffff); }
};
struct ElementFp8 {
  using Value = float;
  static constexpr int kPerDword = 4;
  static float of(u32 dword, int part) { return fp8_to_float(dword >> 8 * part & 0xff); }
};
struct ElementBf8 {
  using Value = float;
  static constexpr int kPerDword = 4;
  static float of(u32 dword, int part) { return bf8_to_float(dword >> 8 * part & 0xff); }
};
struct ElementI8 {
  using Value = u32;
  static constexpr int kPerDword = 4;
  static u32 of(u32 dword, int part) {
    return static_cast<u32>(static_cast<std::int32_t>(static_cast<std::int8_t>(dword >> 8 * part)));
  }
};

// The operand as [block][k][row or column].
template <class Element, int M, int K, int Blocks>
struct MatrixOperand {
  using Value = typename Element::Value;
  static constexpr int kPerLane = M * K * Blocks / kLanes;
  Value at[Blocks][K][M];
  MatrixOperand(const Wave& wave, const Operand& operand) {
    for (int j = 0; j < kPerLane; ++j) {
      const std::size_t dword = static_cast<std::size_t>(j / Element::kPerDword);
      const u32* lanes_of = wave.vector[operand.index + dword].data();
      for (int lane = 0; lane < kLanes; ++lane) {
        const int block = lane / M % Blocks;
        const int k = lane / (M * Blocks) * kPerLane + j;
        at[block][k][lane % M] = Element::of(lanes_of[lane], j % Element::kPerDword);
      }
    }
  }
};

// Register and lane of an element of C and D in 32 bits.
struct Place {
  std::size_t reg;
  std::size_t lane;
};
template <int M>
constexpr Place place_of(int block, int row, int column) {
  if constexpr (M == 4) {
    return {static_cast<std::size_t>(row), static_cast<std::size_t>(4 * block + column)};
  } else {
    constexpr int kGroups = kLanes / M;
    return {static_cast<std::size_t>(block * M * M / kLanes + 4 * (row / (4 * kGroups)) + row % 4),
            static_cast<std::size_t>(M * (row / 4 % kGroups) + column)};
  }
}

// sums[row][column] += a[k][row] * b[k][column], in the order of k, one rounding each.
template <int M, int K>
[[gnu::always_inline]] inline void add_products(float* sums, const float* a, const float* b) {
  for (int row = 0; row < M; ++row) {
    float sum[M];  // apart from the operands, so that it stays in registers
    for (int column = 0; column < M; ++column) sum[column] = sums[M * row + column];
    for (int k = 0; k < K; ++k) {
      const float left = a[M * k + row];
      for (int column = 0; column < M; ++column) {
        sum[column] = std::fma(left, b[M * k + column], sum[column]);
      }
    }
    for (int column = 0; column < M; ++column) sums[M * row + column] = sum[column];
  }
}
#if defined(__x86_64__)
// With the fused instruction of the host where it has one; std::fma is a call elsewhere.
template <int M, int K>
[[gnu::target("avx2,fma")]] void add_products_fused(float* sums, const float* a, const float* b) {
  add_products<M, K>(sums, a, b);
}
bool host_has_fma() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}
#endif
template <int M, int K>
void multiply(float* sums, const float* a, const float* b) {
#if defined(__x86_64__)
  if (host_has_fma()) return add_products_fused<M, K>(sums, a, b);
#endif
  add_products<M, K>(sums, a, b);
}
template <int M, int K>
void multiply(u32* sums, const u32* a, const u32* b) {
  for (int row = 0; row < M; ++row) {
    for (int k = 0; k < K; ++k) {
      for (int column = 0; column < M; ++column)
        sums[M * row + column] += a[M * k + row] * b[M * k + column];
    }
  }
}

template <class Value>
Value value_of(u32 bits) {
  if constexpr (std::is_same_v<Value, float>) {
    return float_of(bits);
  } else {
    return bits;
  }
}

template <class A, class B, int M, int K, int Blocks>
constexpr Semantics matrix_product() {
  return {[](Wave& wave, const Instruction& i) {
            using Value = typename A::Value;
            const MatrixOperand<A, M, K, Blocks> a(wave, i.sources[0]);
            const MatrixOperand<B, M, K, Blocks> b(wave, i.sources[1]);
            const Operand& c = i.sources[2];
            const std::size_t target = i.destinations[0].index;
            for (int block = 0; block < Blocks; ++block) {
              Value sums[M * M];
              for (int row = 0; row < M; ++row) {
                const Place place = place_of<M>(block, row, 0);
                for (int column = 0; column < M; ++column) {
                  const auto lane = place.lane + static_cast<std::size_t>(column);
                  const u32 bits = c.kind == Operand::Kind::kVector
                                       ? wave.vector[c.index + place.reg][lane]
                                       : static_cast<u32>(c.constant);
                  sums[M * row + column] = value_of<Value>(bits);
                }
              }
              multiply<M, K>(sums, a.at[block][0], b.at[block][0]);
              for (int row = 0; row < M; ++row) {
                const Place place = place_of<M>(block, row, 0);
                u32* to = wave.vector[target + place.reg].data() + place.lane;
                for (int column = 0; column < M; ++column)
                  to[column] = std::bit_cast<u32>(sums[M * row + column]);
              }
            }
          },
          1};
}

// f64: pairs of registers. 16x16x4: a row in each fourth of the wave; 4x4x4 in four blocks.
double double_of(const Wave& wave, std::size_t first, std::size_t lane) {
  return std::bit_cast<double>(wave.vector[first][lane] |
                               std::uint64_t{wave.vector[first + 1][lane]} << 32);
}
template <int M, int Blocks>
constexpr Semantics matrix_product_f64() {
  return {[](Wave& wave, const Instruction& i) {
            constexpr std::size_t kSize = M;
            constexpr std::size_t kDepth = 4;
            constexpr std::size_t kRegisters = M * M * Blocks / kLanes;
            const Operand& c = i.sources[2];
            double results[kRegisters][kLanes];
            for (std::size_t reg = 0; reg < kRegisters; ++reg) {
              for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
                // Each fourth of the wave has the rows of a register in steps of one.
                const std::size_t row = 4 * reg + lane / 16;
                const std::size_t block = lane / kSize % Blocks;
                const std::size_t column = lane % kSize;
                double sum = c.kind == Operand::Kind::kVector
                                 ? double_of(wave, c.index + 2 * reg, lane)
                                 : std::bit_cast<double>(c.constant);
                for (std::size_t k = 0; k < kDepth; ++k) {
                  const std::size_t first = k * kSize * Blocks + block * kSize;
                  sum = std::fma(double_of(wave, i.sources[0].index, first + row),
                                 double_of(wave, i.sources[1].index, first + column), sum);
                }
                results[reg][lane] = sum;
              }
            }
            for (std::size_t reg = 0; reg < kRegisters; ++reg) {
              for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
                const auto bits = std::bit_cast<std::uint64_t>(results[reg][lane]);
                const std::size_t target = i.destinations[0].index + 2 * reg;
                wave.vector[target][lane] = static_cast<u32>(bits);
                wave.vector[target + 1][lane] = static_cast<u32>(bits >> 32);
              }
            }
          },
          1,
          {ConstantForm::kFloat64, ConstantForm::kFloat64, ConstantForm::kFloat64}};
}

}  // namespace

std::vector<TableEntry> matrix() {
  return {
      // f32, and f32 with 10 bits of mantissa
      {"v_mfma_f32_32x32x2_f32", matrix_product<ElementF32, ElementF32, 32, 2, 1>()},
      {"v_mfma_f32_16x16x4_f32", matrix_product<ElementF32, ElementF32, 16, 4, 1>()},
      {"v_mfma_f32_32x32x1_2b_f32", matrix_product<ElementF32, ElementF32, 32, 1, 2>()},
      {"v_mfma_f32_16x16x1_4b_f32", matrix_product<ElementF32, ElementF32, 16, 1, 4>()},
      {"v_mfma_f32_4x4x1_16b_f32", matrix_product<ElementF32, ElementF32, 4, 1, 16>()},
      {"v_mfma_f32_32x32x4_xf32", matrix_product<ElementXf32, ElementXf32, 32, 4, 1>()},
      {"v_mfma_f32_16x16x8_xf32", matrix_product<ElementXf32, ElementXf32, 16, 8, 1>()},
      // f16
      {"v_mfma_f32_32x32x8_f16", matrix_product<ElementF16, ElementF16, 32, 8, 1>()},
      {"v_mfma_f32_16x16x16_f16", matrix_product<ElementF16, ElementF16, 16, 16, 1>()},
      {"v_mfma_f32_32x32x4_2b_f16", matrix_product<ElementF16, ElementF16, 32, 4, 2>()},
      {"v_mfma_f32_16x16x4_4b_f16", matrix_product<ElementF16, ElementF16, 16, 4, 4>()},
      {"v_mfma_f32_4x4x4_16b_f16", matrix_product<ElementF16, ElementF16, 4, 4, 16>()},
      // bf16
      {"v_mfma_f32_32x32x8_bf16", matrix_product<ElementBf16, ElementBf16, 32, 8, 1>()},
      {"v_mfma_f32_16x16x16_bf16", matrix_product<ElementBf16, ElementBf16, 16, 16, 1>()},
      {"v_mfma_f32_32x32x4_2b_bf16", matrix_product<ElementBf16, ElementBf16, 32, 4, 2>()},
      {"v_mfma_f32_16x16x4_4b_bf16", matrix_product<ElementBf16, ElementBf16, 16, 4, 4>()},
      {"v_mfma_f32_4x4x4_16b_bf16", matrix_product<ElementBf16, ElementBf16, 4, 4, 16>()},
      // fp8 and bf8, FNUZ
      {"v_mfma_f32_16x16x32_fp8_fp8", matrix_product<ElementFp8, ElementFp8, 16, 32, 1>()},
      {"v_mfma_f32_16x16x32_fp8_bf8", matrix_product<ElementFp8, ElementBf8, 16, 32, 1>()},
      {"v_mfma_f32_16x16x32_bf8_fp8", matrix_product<ElementBf8, ElementFp8, 16, 32, 1>()},
      {"v_mfma_f32_16x16x32_bf8_bf8", matrix_product<ElementBf8, ElementBf8, 16, 32, 1>()},
      {"v_mfma_f32_32x32x16_fp8_fp8", matrix_product<ElementFp8, ElementFp8, 32, 16, 1>()},
      {"v_mfma_f32_32x32x16_fp8_bf8", matrix_product<ElementFp8, ElementBf8, 32, 16, 1>()},
      {"v_mfma_f32_32x32x16_bf8_fp8", matrix_product<ElementBf8, ElementFp8, 32, 16, 1>()},
      {"v_mfma_f32_32x32x16_bf8_bf8", matrix_product<ElementBf8, ElementBf8, 32, 16, 1>()},
      // i8
      {"v_mfma_i32_32x32x16_i8", matrix_product<ElementI8, ElementI8, 32, 16, 1>()},
      {"v_mfma_i32_16x16x32_i8", matrix_product<ElementI8, ElementI8, 16, 32, 1>()},
      {"v_mfma_i32_32x32x4_2b_i8", matrix_product<ElementI8, ElementI8, 32, 4, 2>()},
      {"v_mfma_i32_16x16x4_4b_i8", matrix_product<ElementI8, ElementI8, 16, 4, 4>()},
      {"v_mfma_i32_4x4x4_16b_i8", matrix_product<ElementI8, ElementI8, 4, 4, 16>()},
      // f64
      {"v_mfma_f64_16x16x4_f64", matrix_product_f64<16, 1>()},
      {"v_mfma_f64_4x4x4_4b_f64", matrix_product_f64<4, 4>()},
  };
}

}  // namespace hone::emulator
