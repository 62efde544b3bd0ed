// Packed instructions: VOP3P without matrix products (MI300 ISA, section "VOP3P Instructions").
//
// op_sel chooses the half that the low result reads, op_sel_hi that of the high result; neg_lo and
// neg_hi the signs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "emulator/lanes.h"

namespace hone::emulator {
namespace {

// The half of source `index` that the low (0) or high (1) result reads, as bits with its sign.
struct Halves {
  std::uint32_t buffer[kLanes];
  const std::uint32_t* bits;
  int shift[2];
  std::uint32_t flip[2];
  Halves(const Wave& wave, const Instruction& i, int index)
      : bits(wave.lanes(i, i.sources[static_cast<std::size_t>(index)], 0, buffer)),
        shift{(i.op_sel >> index & 1) * 16, (i.op_sel_hi >> index & 1) * 16},
        flip{(i.neg_lo >> index & 1) * 0x8000u, (i.neg_hi >> index & 1) * 0x8000u} {}
  std::uint32_t operator()(int lane, int half) const {
    return (bits[lane] >> shift[half] & 0xffff) ^ flip[half];
  }
};

// f16 pairs: function(a, b, c) of floats, rounded to f16.
template <int Sources, class Function>
constexpr Semantics pair_of_f16(Function) {
  return {[](Wave& wave, const Instruction& i) {
            const Halves a(wave, i, 0);
            const Halves b(wave, i, 1);
            const Halves c(wave, i, Sources - 1);
            const bool keeps = wave.keeps_f16_f64_inputs();
            std::uint32_t out[2][kLanes];
            for (int half = 0; half < 2; ++half) {
              float values[kLanes];
              for (int lane = 0; lane < kLanes; ++lane) {
                const auto value = [&](const Halves& x) {
                  return half_to_float(keeps ? x(lane, half) : flush_f16(x(lane, half)));
                };
                values[lane] = Function{}(value(a), value(b), value(c));
              }
              F16::rounded(wave, i, values, out[half]);
            }
            for (int lane = 0; lane < kLanes; ++lane) out[0][lane] |= out[1][lane] << 16;
            wave.write(i, i.destinations[0], 0, out[0]);
          },
          1,
          {ConstantForm::k16, ConstantForm::k16, ConstantForm::k16}};
}

// Pairs of 16-bit integers: function(a, b, c) of T, as int.
template <class T, int Sources, class Function>
constexpr Semantics pair_of(Function) {
  return {[](Wave& wave, const Instruction& i) {
            const Halves a(wave, i, 0);
            const Halves b(wave, i, 1);
            const Halves c(wave, i, Sources - 1);
            std::uint32_t out[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
              std::uint32_t both = 0;
              for (int half = 0; half < 2; ++half) {
                const auto result =
                    Function{}(static_cast<T>(a(lane, half)), static_cast<T>(b(lane, half)),
                               static_cast<T>(c(lane, half)));
                both |= (static_cast<std::uint32_t>(result) & 0xffff) << 16 * half;
              }
              out[lane] = both;
            }
            wave.write(i, i.destinations[0], 0, out);
          },
          1};
}

// f32 pairs: registers of 64 bits; op_sel chooses dwords.
template <int Sources, class Function>
constexpr Semantics pair_of_f32(Function) {
  return {[](Wave& wave, const Instruction& i) {
            std::uint32_t out[2][kLanes];
            for (int half = 0; half < 2; ++half) {
              float values[3][kLanes];
              for (int index = 0; index < Sources; ++index) {
                const int select = (half == 0 ? i.op_sel : i.op_sel_hi) >> index & 1;
                const int sign = (half == 0 ? i.neg_lo : i.neg_hi) >> index & 1;
                std::uint32_t buffer[kLanes];
                const std::uint32_t* bits =
                    wave.lanes(i, i.sources[static_cast<std::size_t>(index)], select, buffer);
                const std::uint32_t flip = sign != 0 ? 1u << 31 : 0;
                if (wave.keeps_f32_inputs()) {
                  for (int lane = 0; lane < kLanes; ++lane)
                    values[index][lane] = float_of(bits[lane] ^ flip);
                } else {
                  for (int lane = 0; lane < kLanes; ++lane)
                    values[index][lane] = float_of(flush_f32(bits[lane] ^ flip));
                }
              }
              float result[kLanes];
              for (int lane = 0; lane < kLanes; ++lane) {
                result[lane] =
                    Function{}(values[0][lane], values[1][lane], values[Sources - 1][lane]);
              }
              if (i.clamp) scale_and_clamp(i, result);
              for (int lane = 0; lane < kLanes; ++lane) {
                out[half][lane] = wave.keeps_f32_outputs() ? bits_of(result[lane])
                                                           : flush_f32(bits_of(result[lane]));
              }
            }
            wave.write(i, i.destinations[0], 0, out[0]);
            wave.write(i, i.destinations[0], 1, out[1]);
          },
          1,
          {ConstantForm::kPair32, ConstantForm::kPair32, ConstantForm::kPair32},
          RoundingClass::kSingle};
}

// v_pk_mov_b32: the low result from the first source, the high result from the second, each by
// op_sel.
void move_pair(Wave& wave, const Instruction& i) {
  std::uint32_t out[2][kLanes];
  for (int half = 0; half < 2; ++half) {
    std::uint32_t buffer[kLanes];
    const int select = i.op_sel >> half & 1;
    const std::uint32_t* bits =
        wave.lanes(i, i.sources[static_cast<std::size_t>(half)], select, buffer);
    std::memcpy(out[half], bits, sizeof out[half]);
  }
  wave.write(i, i.destinations[0], 0, out[0]);
  wave.write(i, i.destinations[0], 1, out[1]);
}

// Dot products: sum of products of the parts of two dwords, plus the third source.
template <int Parts, class T, class Function>
constexpr Semantics dot(Function) {
  return {[](Wave& wave, const Instruction& i) {
            const SourcesOf<U32, U32> sources(wave, i);
            const bool accumulates = i.sources[2].kind == Operand::Kind::kNone;
            const U32::Source third(wave, i, accumulates ? i.destinations[0] : i.sources[2]);
            std::uint32_t out[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
              out[lane] = sources.of(lane, [&](std::uint32_t a, std::uint32_t b) {
                constexpr int kBits = 32 / Parts;
                T sum = std::bit_cast<T>(third[lane]);
                for (int part = 0; part < Parts; ++part) {
                  sum = Function{}(a << (32 - kBits * (part + 1)), b << (32 - kBits * (part + 1)),
                                   sum);
                }
                return std::bit_cast<std::uint32_t>(sum);
              });
            }
            wave.write(i, i.destinations[0], 0, out);
          },
          1};
}

template <class T>
T low_clamped(int value) {
  return static_cast<T>(
      std::clamp<int>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

float pair_minimum(float a, float b) {
  return std::isnan(a) || b < a || (a == b && std::signbit(b)) ? b : a;
}
float pair_maximum(float a, float b) {
  return std::isnan(a) || b > a || (a == b && std::signbit(a)) ? b : a;
}

}  // namespace

std::vector<TableEntry> packed() {
  using i16 = std::int16_t;
  using u16 = std::uint16_t;
  using u32 = std::uint32_t;
  using i32 = std::int32_t;
  // The parts of a dot product stand at the top of their dwords.
  const auto f16_term = [](u32 a, u32 b, float sum) {
    return sum + half_to_float(a >> 16) * half_to_float(b >> 16);
  };
  return {
      {"v_pk_add_f16", pair_of_f16<2>([](float a, float b, float) { return a + b; })},
      {"v_pk_mul_f16", pair_of_f16<2>([](float a, float b, float) { return a * b; })},
      {"v_pk_fma_f16",
       pair_of_f16<3>([](float a, float b, float c) { return fma_to_odd(a, b, c); })},
      {"v_pk_min_f16", pair_of_f16<2>([](float a, float b, float) { return pair_minimum(a, b); })},
      {"v_pk_max_f16", pair_of_f16<2>([](float a, float b, float) { return pair_maximum(a, b); })},
      {"v_pk_add_f32", pair_of_f32<2>([](float a, float b, float) { return a + b; })},
      {"v_pk_mul_f32", pair_of_f32<2>([](float a, float b, float) { return a * b; })},
      {"v_pk_fma_f32", pair_of_f32<3>([](float a, float b, float c) { return std::fma(a, b, c); })},
      {"v_pk_mov_b32", {move_pair, 1, {ConstantForm::kInteger64, ConstantForm::kInteger64}}},
      {"v_pk_add_u16", pair_of<u16, 2>([](int a, int b, int) { return a + b; })},
      {"v_pk_sub_u16", pair_of<u16, 2>([](int a, int b, int) { return a - b; })},
      {"v_pk_add_i16", pair_of<i16, 2>([](int a, int b, int) { return a + b; })},
      {"v_pk_sub_i16", pair_of<i16, 2>([](int a, int b, int) { return a - b; })},
      {"v_pk_add_u16 clamp",
       pair_of<u16, 2>([](int a, int b, int) { return low_clamped<u16>(a + b); })},
      {"v_pk_sub_u16 clamp",
       pair_of<u16, 2>([](int a, int b, int) { return low_clamped<u16>(a - b); })},
      {"v_pk_add_i16 clamp",
       pair_of<i16, 2>([](int a, int b, int) { return low_clamped<i16>(a + b); })},
      {"v_pk_sub_i16 clamp",
       pair_of<i16, 2>([](int a, int b, int) { return low_clamped<i16>(a - b); })},
      {"v_pk_mul_lo_u16", pair_of<u16, 2>([](u32 a, u32 b, u32) { return a * b; })},
      {"v_pk_mad_u16", pair_of<u16, 3>([](u32 a, u32 b, u32 c) { return a * b + c; })},
      {"v_pk_mad_i16", pair_of<i16, 3>([](int a, int b, int c) { return a * b + c; })},
      {"v_pk_min_u16", pair_of<u16, 2>([](int a, int b, int) { return std::min(a, b); })},
      {"v_pk_max_u16", pair_of<u16, 2>([](int a, int b, int) { return std::max(a, b); })},
      {"v_pk_min_i16", pair_of<i16, 2>([](int a, int b, int) { return std::min(a, b); })},
      {"v_pk_max_i16", pair_of<i16, 2>([](int a, int b, int) { return std::max(a, b); })},
      {"v_pk_lshlrev_b16", pair_of<u16, 2>([](int a, int b, int) { return b << (a & 15); })},
      {"v_pk_lshrrev_b16", pair_of<u16, 2>([](int a, int b, int) { return b >> (a & 15); })},
      {"v_pk_ashrrev_i16", pair_of<i16, 2>([](int a, int b, int) { return b >> (a & 15); })},
      // Dot products; those with "c" add to the destination.
      {"v_dot2_f32_f16", dot<2, float>(f16_term)},
      {"v_dot2c_f32_f16", dot<2, float>(f16_term)},
      {"v_dot2_i32_i16", dot<2, u32>([](u32 a, u32 b, u32 c) {
         return c + static_cast<u32>((static_cast<i32>(a) >> 16) * (static_cast<i32>(b) >> 16));
       })},
      {"v_dot2c_i32_i16", dot<2, u32>([](u32 a, u32 b, u32 c) {
         return c + static_cast<u32>((static_cast<i32>(a) >> 16) * (static_cast<i32>(b) >> 16));
       })},
      {"v_dot2_u32_u16",
       dot<2, u32>([](u32 a, u32 b, u32 c) { return c + (a >> 16) * (b >> 16); })},
      {"v_dot4_i32_i8", dot<4, u32>([](u32 a, u32 b, u32 c) {
         return c + static_cast<u32>((static_cast<i32>(a) >> 24) * (static_cast<i32>(b) >> 24));
       })},
      {"v_dot4c_i32_i8", dot<4, u32>([](u32 a, u32 b, u32 c) {
         return c + static_cast<u32>((static_cast<i32>(a) >> 24) * (static_cast<i32>(b) >> 24));
       })},
      {"v_dot4_u32_u8", dot<4, u32>([](u32 a, u32 b, u32 c) { return c + (a >> 24) * (b >> 24); })},
      {"v_dot8_i32_i4", dot<8, u32>([](u32 a, u32 b, u32 c) {
         return c + static_cast<u32>((static_cast<i32>(a) >> 28) * (static_cast<i32>(b) >> 28));
       })},
      {"v_dot8c_i32_i4", dot<8, u32>([](u32 a, u32 b, u32 c) {
         return c + static_cast<u32>((static_cast<i32>(a) >> 28) * (static_cast<i32>(b) >> 28));
       })},
      {"v_dot8_u32_u4", dot<8, u32>([](u32 a, u32 b, u32 c) { return c + (a >> 28) * (b >> 28); })},
  };
}

}  // namespace hone::emulator
