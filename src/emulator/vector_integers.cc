// The vector unit's integers and bits: VOP1, VOP2 and VOP3 (MI300 ISA, sections "VOP1" to "VOP3A
// and VOP3B Instructions").
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "emulator/lanes.h"

namespace hone::emulator {
namespace {

using u16 = std::uint16_t;
using i16 = std::int16_t;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

// The low 24 bits, with and without sign.
constexpr i32 signed24(i32 x) {
  return static_cast<i32>(static_cast<u32>(x) << 8) >> 8;
}
constexpr u32 unsigned24(u32 x) {
  return x & 0xffffff;
}

template <class T, class Wide>
constexpr T saturated(Wide value) {
  constexpr auto kLow = static_cast<Wide>(std::numeric_limits<T>::min());
  constexpr auto kHigh = static_cast<Wide>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp(value, kLow, kHigh));
}

template <class T>
constexpr T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

constexpr u32 field_u(u32 value, u32 offset, u32 width) {
  return (width & 31) == 0 ? 0 : value >> (offset & 31) & ((1u << (width & 31)) - 1);
}
constexpr i32 field_i(i32 value, u32 offset, u32 width) {
  const u32 bits = width & 31;
  const u32 start = offset & 31;
  if (bits == 0) return 0;
  if (start + bits >= 32) return value >> start;
  return static_cast<i32>(static_cast<u32>(value) << (32 - start - bits)) >> (32 - bits);
}

// v_perm_b32: each byte of the selector chooses one of eight bytes, a sign or a constant.
constexpr u32 permuted(u32 a, u32 b, u32 selector) {
  const u64 bytes = u64{a} << 32 | b;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 select = selector >> 8 * i & 255;
    u32 byte = 255;  // 13 and above
    if (select < 8) byte = static_cast<u32>(bytes >> 8 * select & 255);
    if (select >= 8 && select < 12) {  // the sign of bytes 1, 3, 5, 7
      byte = (bytes >> (16 * (select - 8) + 15) & 1) != 0 ? 255 : 0;
    }
    if (select == 12) byte = 0;
    result |= byte << 8 * i;
  }
  return result;
}

constexpr u32 reversed_bits(u32 value) {
  value = (value >> 1 & 0x55555555) | (value & 0x55555555) << 1;
  value = (value >> 2 & 0x33333333) | (value & 0x33333333) << 2;
  value = (value >> 4 & 0x0f0f0f0f) | (value & 0x0f0f0f0f) << 4;
  value = (value >> 8 & 0x00ff00ff) | (value & 0x00ff00ff) << 8;
  return value >> 16 | value << 16;
}

constexpr u32 byte_differences(u32 a, u32 b) {
  u32 sum = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 x = a >> 8 * i & 255;
    const u32 y = b >> 8 * i & 255;
    sum += x > y ? x - y : y - x;
  }
  return sum;
}

i32 leading(u32 value) {
  return value == 0 ? -1 : std::countl_zero(value);
}

}  // namespace

std::vector<TableEntry> vector_integers() {
  return {
      // 32 bits: moves and bits
      {"v_nop", {[](Wave&, const Instruction&) {}, 0}},
      {"v_mov_b32", lanes<U32, U32>([](u32 a) { return a; })},
      {"v_mov_b64", lanes<U64, U64>([](u64 a) { return a; })},
      {"v_not_b32", lanes<U32, U32>([](u32 a) { return ~a; })},
      {"v_and_b32", lanes<U32, U32, U32>([](u32 a, u32 b) { return a & b; })},
      {"v_or_b32", lanes<U32, U32, U32>([](u32 a, u32 b) { return a | b; })},
      {"v_xor_b32", lanes<U32, U32, U32>([](u32 a, u32 b) { return a ^ b; })},
      {"v_xnor_b32", lanes<U32, U32, U32>([](u32 a, u32 b) { return ~(a ^ b); })},
      {"v_and_or_b32", lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return (a & b) | c; })},
      {"v_or3_b32", lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return a | b | c; })},
      {"v_bfi_b32",
       lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); })},
      {"v_bfm_b32",
       lanes<U32, U32, U32>([](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); })},
      {"v_bfe_u32",
       lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return field_u(a, b, c); })},
      {"v_bfe_i32",
       lanes<I32, I32, U32, U32>([](i32 a, u32 b, u32 c) { return field_i(a, b, c); })},
      {"v_perm_b32",
       lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return permuted(a, b, c); })},
      {"v_alignbit_b32", lanes<U32, U32, U32, U32>(
                             [](u32 a, u32 b, u32 c) { return (u64{a} << 32 | b) >> (c & 31); })},
      {"v_alignbyte_b32", lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) {
         return (u64{a} << 32 | b) >> 8 * (c & 3);
       })},
      {"v_bfrev_b32", lanes<U32, U32>([](u32 a) { return reversed_bits(a); })},
      {"v_ffbh_u32", lanes<I32, U32>([](u32 a) { return leading(a); })},
      {"v_ffbl_b32", lanes<I32, U32>([](u32 a) { return a == 0 ? -1 : std::countr_zero(a); })},
      {"v_ffbh_i32",
       lanes<I32, I32>([](i32 a) { return leading(static_cast<u32>(a < 0 ? ~a : a)); })},
      {"v_bcnt_u32_b32",
       lanes<U32, U32, U32>([](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; })},
      {"v_cndmask_b32",
       {[](Wave& wave, const Instruction& i) {
          // neg and abs apply as to f32, without its subnormals.
          const U32::Source a(wave, i, i.sources[0]);
          const U32::Source b(wave, i, i.sources[1]);
          const u64 condition = wave.value64(i.sources[2]);
          u32 out[kLanes];
          for (int lane = 0; lane < kLanes; ++lane) {
            out[lane] = (condition >> lane & 1) != 0 ? with_signs(b[lane], i.sources[1], 1u << 31)
                                                     : with_signs(a[lane], i.sources[0], 1u << 31);
          }
          wave.write(i, i.destinations[0], 0, out);
        },
        1,
        {ConstantForm::k32, ConstantForm::k32, ConstantForm::kInteger64}}},
      {"v_swap_b32",
       {[](Wave& wave, const Instruction& i) {
          const Wave::Register a = wave.vector[i.destinations[0].index];
          const Wave::Register b = wave.vector[i.sources[0].index];
          wave.write(i, i.destinations[0], 0, b.data());
          wave.write(i, i.sources[0], 0, a.data());
        },
        1}},
      // Accumulators are registers like others here.
      {"v_accvgpr_read_b32", lanes<U32, U32>([](u32 a) { return a; })},
      {"v_accvgpr_write_b32", lanes<U32, U32>([](u32 a) { return a; })},
      {"v_accvgpr_mov_b32", lanes<U32, U32>([](u32 a) { return a; })},
      // 32 bits: shifts; "rev" has the amount first
      {"v_lshlrev_b32", lanes<U32, U32, U32>([](u32 a, u32 b) { return b << (a & 31); })},
      {"v_lshrrev_b32", lanes<U32, U32, U32>([](u32 a, u32 b) { return b >> (a & 31); })},
      {"v_ashrrev_i32", lanes<I32, U32, I32>([](u32 a, i32 b) { return b >> (a & 31); })},
      {"v_lshl_or_b32",
       lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return a << (b & 31) | c; })},
      {"v_lshl_add_u32",
       lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; })},
      {"v_add_lshl_u32",
       lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); })},
      // 32 bits: sums
      {"v_add_u32", lanes<U32, U32, U32>([](u32 a, u32 b) { return a + b; })},
      {"v_sub_u32", lanes<U32, U32, U32>([](u32 a, u32 b) { return a - b; })},
      {"v_subrev_u32", lanes<U32, U32, U32>([](u32 a, u32 b) { return b - a; })},
      {"v_add_u32 clamp",
       lanes<U32, U32, U32>([](u32 a, u32 b) { return saturated<u32>(u64{a} + b); })},
      {"v_sub_u32 clamp", lanes<U32, U32, U32>([](u32 a, u32 b) { return a > b ? a - b : 0; })},
      {"v_add_i32", lanes<U32, U32, U32>([](u32 a, u32 b) { return a + b; })},
      {"v_sub_i32", lanes<U32, U32, U32>([](u32 a, u32 b) { return a - b; })},
      {"v_add_i32 clamp",
       lanes<I32, I32, I32>([](i32 a, i32 b) { return saturated<i32>(i64{a} + b); })},
      {"v_sub_i32 clamp",
       lanes<I32, I32, I32>([](i32 a, i32 b) { return saturated<i32>(i64{a} - b); })},
      {"v_add3_u32", lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return a + b + c; })},
      {"v_xad_u32", lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return (a ^ b) + c; })},
      {"v_sad_u8",
       lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return byte_differences(a, b) + c; })},
      {"v_sad_u32",
       lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; })},
      {"v_add_co_u32", lanes_with_bit<U32, U32, U32>([](u32 a, u32 b, bool& carry) {
         carry = (u64{a} + b) >> 32 != 0;
         return a + b;
       })},
      {"v_sub_co_u32", lanes_with_bit<U32, U32, U32>([](u32 a, u32 b, bool& borrow) {
         borrow = b > a;
         return a - b;
       })},
      {"v_subrev_co_u32", lanes_with_bit<U32, U32, U32>([](u32 a, u32 b, bool& borrow) {
         borrow = a > b;
         return b - a;
       })},
      {"v_addc_co_u32",
       lanes_with_bit<U32, U32, U32, Condition>([](u32 a, u32 b, bool in, bool& carry) {
         const u64 sum = u64{a} + b + (in ? 1 : 0);
         carry = sum >> 32 != 0;
         return static_cast<u32>(sum);
       })},
      {"v_subb_co_u32",
       lanes_with_bit<U32, U32, U32, Condition>([](u32 a, u32 b, bool in, bool& borrow) {
         borrow = u64{b} + (in ? 1 : 0) > a;
         return a - b - (in ? 1 : 0);
       })},
      {"v_subbrev_co_u32",
       lanes_with_bit<U32, U32, U32, Condition>([](u32 a, u32 b, bool in, bool& borrow) {
         borrow = u64{a} + (in ? 1 : 0) > b;
         return b - a - (in ? 1 : 0);
       })},
      // 32 bits: products
      {"v_mul_lo_u32", lanes<U32, U32, U32>([](u32 a, u32 b) { return a * b; })},
      {"v_mul_hi_u32", lanes<U32, U32, U32>([](u32 a, u32 b) { return u64{a} * b >> 32; })},
      {"v_mul_hi_i32", lanes<I32, I32, I32>([](i32 a, i32 b) { return i64{a} * b >> 32; })},
      {"v_mul_u32_u24",
       lanes<U32, U32, U32>([](u32 a, u32 b) { return unsigned24(a) * unsigned24(b); })},
      {"v_mul_i32_i24",
       lanes<I32, I32, I32>([](i32 a, i32 b) { return i64{signed24(a)} * signed24(b); })},
      {"v_mul_hi_u32_u24",
       lanes<U32, U32, U32>([](u32 a, u32 b) { return u64{unsigned24(a)} * unsigned24(b) >> 32; })},
      {"v_mul_hi_i32_i24",
       lanes<I32, I32, I32>([](i32 a, i32 b) { return i64{signed24(a)} * signed24(b) >> 32; })},
      {"v_mad_u32_u24", lanes<U32, U32, U32, U32>(
                            [](u32 a, u32 b, u32 c) { return unsigned24(a) * unsigned24(b) + c; })},
      {"v_mad_i32_i24", lanes<I32, I32, I32, I32>([](i32 a, i32 b, i32 c) {
         return i64{signed24(a)} * signed24(b) + c;
       })},
      {"v_mad_u64_u32", lanes_with_bit<U64, U32, U32, U64>([](u32 a, u32 b, u64 c, bool& carry) {
         const u64 product = u64{a} * b;
         carry = product + c < product;
         return product + c;
       })},
      {"v_mad_i64_i32", lanes_with_bit<U64, I32, I32, U64>([](i32 a, i32 b, u64 c, bool& carry) {
         i64 sum = 0;
         carry = __builtin_add_overflow(i64{a} * b, static_cast<i64>(c), &sum);
         return static_cast<u64>(sum);
       })},
      {"v_mad_u32_u16",
       lanes<U32, U16, U16, U32>([](u16 a, u16 b, u32 c) { return u32{a} * b + c; })},
      {"v_mad_i32_i16", lanes<U32, I16, I16, U32>(
                            [](i16 a, i16 b, u32 c) { return static_cast<u32>(i32{a} * b) + c; })},
      // 32 bits: the smaller and the larger
      {"v_min_u32", lanes<U32, U32, U32>([](u32 a, u32 b) { return std::min(a, b); })},
      {"v_max_u32", lanes<U32, U32, U32>([](u32 a, u32 b) { return std::max(a, b); })},
      {"v_min_i32", lanes<I32, I32, I32>([](i32 a, i32 b) { return std::min(a, b); })},
      {"v_max_i32", lanes<I32, I32, I32>([](i32 a, i32 b) { return std::max(a, b); })},
      {"v_min3_u32", lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) {
         return std::min({a, b, c});
       })},
      {"v_max3_u32", lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) {
         return std::max({a, b, c});
       })},
      {"v_min3_i32", lanes<I32, I32, I32, I32>([](i32 a, i32 b, i32 c) {
         return std::min({a, b, c});
       })},
      {"v_max3_i32", lanes<I32, I32, I32, I32>([](i32 a, i32 b, i32 c) {
         return std::max({a, b, c});
       })},
      {"v_med3_u32",
       lanes<U32, U32, U32, U32>([](u32 a, u32 b, u32 c) { return median(a, b, c); })},
      {"v_med3_i32",
       lanes<I32, I32, I32, I32>([](i32 a, i32 b, i32 c) { return median(a, b, c); })},
      // 64 bits
      {"v_lshlrev_b64", lanes<U64, U32, U64>([](u32 a, u64 b) { return b << (a & 63); })},
      {"v_lshrrev_b64", lanes<U64, U32, U64>([](u32 a, u64 b) { return b >> (a & 63); })},
      {"v_ashrrev_i64", lanes<I64, U32, I64>([](u32 a, i64 b) { return b >> (a & 63); })},
      // The shift is 0 to 4.
      {"v_lshl_add_u64",
       lanes<U64, U64, U32, U64>([](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; })},
      // 16 bits
      {"v_add_u16", lanes<U16, U16, U16>([](u16 a, u16 b) { return a + b; })},
      {"v_sub_u16", lanes<U16, U16, U16>([](u16 a, u16 b) { return a - b; })},
      {"v_subrev_u16", lanes<U16, U16, U16>([](u16 a, u16 b) { return b - a; })},
      {"v_add_u16 clamp", lanes<U16, U16, U16>([](u16 a, u16 b) { return saturated<u16>(a + b); })},
      {"v_sub_u16 clamp", lanes<U16, U16, U16>([](u16 a, u16 b) { return saturated<u16>(a - b); })},
      {"v_mul_lo_u16", lanes<U16, U16, U16>([](u16 a, u16 b) { return u32{a} * b; })},
      {"v_lshlrev_b16", lanes<U16, U16, U16>([](u16 a, u16 b) { return b << (a & 15); })},
      {"v_lshrrev_b16", lanes<U16, U16, U16>([](u16 a, u16 b) { return b >> (a & 15); })},
      {"v_ashrrev_i16", lanes<I16, U16, I16>([](u16 a, i16 b) { return b >> (a & 15); })},
      {"v_min_u16", lanes<U16, U16, U16>([](u16 a, u16 b) { return std::min(a, b); })},
      {"v_max_u16", lanes<U16, U16, U16>([](u16 a, u16 b) { return std::max(a, b); })},
      {"v_min_i16", lanes<I16, I16, I16>([](i16 a, i16 b) { return std::min(a, b); })},
      {"v_max_i16", lanes<I16, I16, I16>([](i16 a, i16 b) { return std::max(a, b); })},
      // 16 bits in VOP3: op_sel, and the other half of the result is kept
      {"v_add_i16", lanes<I16Kept, I16, I16>([](i16 a, i16 b) { return a + b; })},
      {"v_sub_i16", lanes<I16Kept, I16, I16>([](i16 a, i16 b) { return a - b; })},
      {"v_add_i16 clamp",
       lanes<I16Kept, I16, I16>([](i16 a, i16 b) { return saturated<i16>(a + b); })},
      {"v_sub_i16 clamp",
       lanes<I16Kept, I16, I16>([](i16 a, i16 b) { return saturated<i16>(a - b); })},
      {"v_mad_u16",
       lanes<U16Kept, U16, U16, U16>([](u16 a, u16 b, u16 c) { return u32{a} * b + c; })},
      {"v_mad_i16", lanes<I16Kept, I16, I16, I16>([](i16 a, i16 b, i16 c) { return a * b + c; })},
      {"v_mad_legacy_u16",
       lanes<U16, U16, U16, U16>([](u16 a, u16 b, u16 c) { return u32{a} * b + c; })},
      {"v_mad_legacy_i16",
       lanes<I16, I16, I16, I16>([](i16 a, i16 b, i16 c) { return a * b + c; })},
      {"v_min3_u16", lanes<U16Kept, U16, U16, U16>([](u16 a, u16 b, u16 c) {
         return std::min({a, b, c});
       })},
      {"v_max3_u16", lanes<U16Kept, U16, U16, U16>([](u16 a, u16 b, u16 c) {
         return std::max({a, b, c});
       })},
      {"v_min3_i16", lanes<I16Kept, I16, I16, I16>([](i16 a, i16 b, i16 c) {
         return std::min({a, b, c});
       })},
      {"v_max3_i16", lanes<I16Kept, I16, I16, I16>([](i16 a, i16 b, i16 c) {
         return std::max({a, b, c});
       })},
      {"v_med3_u16",
       lanes<U16Kept, U16, U16, U16>([](u16 a, u16 b, u16 c) { return median(a, b, c); })},
      {"v_med3_i16",
       lanes<I16Kept, I16, I16, I16>([](i16 a, i16 b, i16 c) { return median(a, b, c); })},
  };
}

}  // namespace hone::emulator
