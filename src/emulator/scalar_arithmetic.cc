// The scalar unit's arithmetic: SOP1, SOP2, SOPK and SOPC (MI300 ISA, sections "SOP2" to "SOPC
// Instructions").
#include <bit>
#include <cstdint>
#include <type_traits>

#include "emulator/instruction_table.h"
#include "emulator/wave.h"

namespace hone::emulator {
namespace {

using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;

template <class T>
T scalar_value(const Wave& wave, const Operand& operand) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(wave.value64(operand));
  } else {
    return static_cast<T>(wave.value32(operand));
  }
}

template <class T>
void set_scalar(Wave& wave, const Operand& destination, T value) {
  if constexpr (sizeof(T) == 8) {
    wave.set_scalar64(destination.index, static_cast<uint64_t>(value));
  } else {
    wave.scalar[destination.index] = static_cast<uint32_t>(value);
  }
}

template <class... Sources>
constexpr std::array<ConstantForm, 4> scalar_forms() {
  return {(sizeof(Sources) == 8 ? ConstantForm::kInteger64 : ConstantForm::k32)...};
}

// A scalar result of scalar sources: function(wave, sources...), which sets SCC where the ISA does.
template <class Result, class... Sources, class Function>
constexpr Semantics scalar(Function) {
  return {[](Wave& wave, const Instruction& i) {
            [&]<std::size_t... Index>(std::index_sequence<Index...>) {
              const auto result = static_cast<Result>(
                  Function{}(wave, scalar_value<Sources>(wave, i.sources[Index])...));
              set_scalar<Result>(wave, i.destinations[0], result);
            }
            (std::index_sequence_for<Sources...>{});
          },
          1, scalar_forms<Sources...>()};
}

// SOPK: the destination is the first source too, and the second a 16-bit constant.
template <class Function>
constexpr Semantics with_constant(Function) {
  return {[](Wave& wave, const Instruction& i) {
            const auto constant = static_cast<std::int16_t>(i.sources[0].constant);
            uint32_t& target = wave.scalar[i.destinations[0].index];
            target = static_cast<uint32_t>(
                Function{}(wave, static_cast<int32_t>(target), int32_t{constant}));
          },
          1};
}

// SOPC: only SCC is written.
template <class T, class Function>
constexpr Semantics scalar_compare(Function) {
  return {[](Wave& wave, const Instruction& i) {
            wave.scc = Function{}(scalar_value<T>(wave, i.sources[0]),
                                  scalar_value<T>(wave, i.sources[1]));
          },
          0, scalar_forms<T, T>()};
}
// SOPK compares zero-extend the constant of unsigned forms.
template <class T, class Function>
constexpr Semantics compare_constant(Function) {
  return {[](Wave& wave, const Instruction& i) {
            const auto constant = i.sources[1].constant;
            const T other = std::is_signed_v<T>
                                ? static_cast<T>(static_cast<std::int16_t>(constant))
                                : static_cast<T>(static_cast<std::uint16_t>(constant));
            wave.scc = Function{}(scalar_value<T>(wave, i.sources[0]), other);
          },
          0};
}

// The saveexec family: D = EXEC; EXEC = function(source, EXEC); SCC = EXEC != 0.
template <class Function>
constexpr Semantics save_exec(Function) {
  return {[](Wave& wave, const Instruction& i) {
            const uint64_t exec = wave.exec();
            const uint64_t result = Function{}(wave.value64(i.sources[0]), exec);
            wave.set_scalar64(i.destinations[0].index, exec);
            wave.set_scalar64(kExec, result);
            wave.scc = result != 0;
          },
          1,
          {ConstantForm::kInteger64}};
}
// The wrexec family: D = EXEC = function(source, EXEC); SCC = EXEC != 0.
template <class Function>
constexpr Semantics write_exec(Function) {
  return {[](Wave& wave, const Instruction& i) {
            const uint64_t result = Function{}(wave.value64(i.sources[0]), wave.exec());
            wave.set_scalar64(i.destinations[0].index, result);
            wave.set_scalar64(kExec, result);
            wave.scc = result != 0;
          },
          1,
          {ConstantForm::kInteger64}};
}

template <class T>
T nonzero(Wave& wave, T value) {
  wave.scc = value != 0;
  return value;
}

// Sum or difference of two, with SCC as the carry or borrow.
uint32_t sum_with_carry(Wave& wave, uint32_t a, uint32_t b, uint32_t carry) {
  const uint64_t sum = uint64_t{a} + b + carry;
  wave.scc = (sum >> 32) != 0;
  return static_cast<uint32_t>(sum);
}
uint32_t difference_with_borrow(Wave& wave, uint32_t a, uint32_t b, uint32_t borrow) {
  wave.scc = uint64_t{b} + borrow > a;
  return a - b - borrow;
}
// Signed: SCC is the overflow.
uint32_t signed_sum(Wave& wave, int32_t a, int32_t b) {
  int32_t sum = 0;
  wave.scc = __builtin_add_overflow(a, b, &sum);
  return static_cast<uint32_t>(sum);
}
uint32_t signed_difference(Wave& wave, int32_t a, int32_t b) {
  int32_t difference = 0;
  wave.scc = __builtin_sub_overflow(a, b, &difference);
  return static_cast<uint32_t>(difference);
}
uint32_t shifted_sum(Wave& wave, uint32_t a, uint32_t b, int shift) {
  const uint64_t sum = (uint64_t{a} << shift) + b;
  wave.scc = (sum >> 32) != 0;
  return static_cast<uint32_t>(sum);
}

// Bit field extract: offset in bits 0-4 (0-5), width in bits 16-22 of the second source.
template <class T>
T bit_field(T value, uint32_t field) {
  constexpr uint32_t kBits = sizeof(T) * 8;
  const uint32_t offset = field & (kBits - 1);
  const uint32_t width = field >> 16 & 0x7f;
  if (width == 0) return 0;
  if (offset + width >= kBits) return static_cast<T>(value >> offset);
  const uint32_t above = kBits - width;
  using Unsigned = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<T>(static_cast<Unsigned>(value) << (above - offset)) >> above);
}

int32_t leading_zeros(uint64_t value, int bits) {
  return value == 0 ? -1 : std::countl_zero(value) - (64 - bits);
}
int32_t sign_bits(uint32_t value) {  // leading bits equal to the sign; -1 if all are
  const uint32_t flipped = (value >> 31) != 0 ? ~value : value;
  return flipped == 0 ? -1 : std::countl_zero(flipped);
}

template <class T>
T reversed(T value) {
  T result = 0;
  for (unsigned bit = 0; bit < sizeof(T) * 8; ++bit)
    result |= (value >> bit & 1) << (sizeof(T) * 8 - 1 - bit);
  return result;
}

template <class T>
T quad_mask(T value) {
  T result = 0;
  for (unsigned quad = 0; quad < sizeof(T) * 2; ++quad)
    result |= T{(value >> 4 * quad & 15) != 0} << quad;
  return result;
}

template <class T>
T whole_quads(T value) {
  T result = 0;
  for (unsigned quad = 0; quad < sizeof(T) * 2; ++quad) {
    if ((value >> 4 * quad & 15) != 0) result |= T{15} << 4 * quad;
  }
  return result;
}

}  // namespace

std::vector<TableEntry> scalar_arithmetic() {
  using u = uint32_t;
  using i = int32_t;
  using U = uint64_t;
  using I = int64_t;
  return {
      // SOP2: sums, differences, products
      {"s_add_u32", scalar<u, u, u>([](Wave& w, u a, u b) { return sum_with_carry(w, a, b, 0); })},
      {"s_addc_u32",
       scalar<u, u, u>([](Wave& w, u a, u b) { return sum_with_carry(w, a, b, w.scc ? 1 : 0); })},
      {"s_sub_u32",
       scalar<u, u, u>([](Wave& w, u a, u b) { return difference_with_borrow(w, a, b, 0); })},
      {"s_subb_u32", scalar<u, u, u>([](Wave& w, u a, u b) {
         return difference_with_borrow(w, a, b, w.scc ? 1 : 0);
       })},
      {"s_add_i32", scalar<u, i, i>([](Wave& w, i a, i b) { return signed_sum(w, a, b); })},
      {"s_sub_i32", scalar<u, i, i>([](Wave& w, i a, i b) { return signed_difference(w, a, b); })},
      {"s_mul_i32", scalar<u, u, u>([](Wave&, u a, u b) { return a * b; })},
      {"s_mul_hi_u32", scalar<u, u, u>([](Wave&, u a, u b) { return U{a} * b >> 32; })},
      {"s_mul_hi_i32", scalar<u, i, i>([](Wave&, i a, i b) { return I{a} * b >> 32; })},
      {"s_lshl1_add_u32",
       scalar<u, u, u>([](Wave& w, u a, u b) { return shifted_sum(w, a, b, 1); })},
      {"s_lshl2_add_u32",
       scalar<u, u, u>([](Wave& w, u a, u b) { return shifted_sum(w, a, b, 2); })},
      {"s_lshl3_add_u32",
       scalar<u, u, u>([](Wave& w, u a, u b) { return shifted_sum(w, a, b, 3); })},
      {"s_lshl4_add_u32",
       scalar<u, u, u>([](Wave& w, u a, u b) { return shifted_sum(w, a, b, 4); })},
      {"s_absdiff_i32", scalar<u, i, i>([](Wave& w, i a, i b) {
         const u difference = static_cast<u>(a) - static_cast<u>(b);
         return nonzero(w, static_cast<i>(difference) < 0 ? 0u - difference : difference);
       })},
      // SOP2: the smaller, the larger, a choice; SCC says that the first source was taken
      {"s_min_i32", scalar<i, i, i>([](Wave& w, i a, i b) { return (w.scc = a < b) ? a : b; })},
      {"s_min_u32", scalar<u, u, u>([](Wave& w, u a, u b) { return (w.scc = a < b) ? a : b; })},
      {"s_max_i32", scalar<i, i, i>([](Wave& w, i a, i b) { return (w.scc = a > b) ? a : b; })},
      {"s_max_u32", scalar<u, u, u>([](Wave& w, u a, u b) { return (w.scc = a > b) ? a : b; })},
      {"s_cselect_b32", scalar<u, u, u>([](Wave& w, u a, u b) { return w.scc ? a : b; })},
      {"s_cselect_b64", scalar<U, U, U>([](Wave& w, U a, U b) { return w.scc ? a : b; })},
      // SOP2: bits
      {"s_and_b32", scalar<u, u, u>([](Wave& w, u a, u b) { return nonzero(w, a & b); })},
      {"s_and_b64", scalar<U, U, U>([](Wave& w, U a, U b) { return nonzero(w, a & b); })},
      {"s_or_b32", scalar<u, u, u>([](Wave& w, u a, u b) { return nonzero(w, a | b); })},
      {"s_or_b64", scalar<U, U, U>([](Wave& w, U a, U b) { return nonzero(w, a | b); })},
      {"s_xor_b32", scalar<u, u, u>([](Wave& w, u a, u b) { return nonzero(w, a ^ b); })},
      {"s_xor_b64", scalar<U, U, U>([](Wave& w, U a, U b) { return nonzero(w, a ^ b); })},
      {"s_andn2_b32", scalar<u, u, u>([](Wave& w, u a, u b) { return nonzero(w, a & ~b); })},
      {"s_andn2_b64", scalar<U, U, U>([](Wave& w, U a, U b) { return nonzero(w, a & ~b); })},
      {"s_orn2_b32", scalar<u, u, u>([](Wave& w, u a, u b) { return nonzero(w, a | ~b); })},
      {"s_orn2_b64", scalar<U, U, U>([](Wave& w, U a, U b) { return nonzero(w, a | ~b); })},
      {"s_nand_b32", scalar<u, u, u>([](Wave& w, u a, u b) { return nonzero(w, ~(a & b)); })},
      {"s_nand_b64", scalar<U, U, U>([](Wave& w, U a, U b) { return nonzero(w, ~(a & b)); })},
      {"s_nor_b32", scalar<u, u, u>([](Wave& w, u a, u b) { return nonzero(w, ~(a | b)); })},
      {"s_nor_b64", scalar<U, U, U>([](Wave& w, U a, U b) { return nonzero(w, ~(a | b)); })},
      {"s_xnor_b32", scalar<u, u, u>([](Wave& w, u a, u b) { return nonzero(w, ~(a ^ b)); })},
      {"s_xnor_b64", scalar<U, U, U>([](Wave& w, U a, U b) { return nonzero(w, ~(a ^ b)); })},
      {"s_lshl_b32", scalar<u, u, u>([](Wave& w, u a, u b) { return nonzero(w, a << (b & 31)); })},
      {"s_lshl_b64", scalar<U, U, u>([](Wave& w, U a, u b) { return nonzero(w, a << (b & 63)); })},
      {"s_lshr_b32", scalar<u, u, u>([](Wave& w, u a, u b) { return nonzero(w, a >> (b & 31)); })},
      {"s_lshr_b64", scalar<U, U, u>([](Wave& w, U a, u b) { return nonzero(w, a >> (b & 63)); })},
      {"s_ashr_i32", scalar<i, i, u>([](Wave& w, i a, u b) { return nonzero(w, a >> (b & 31)); })},
      {"s_ashr_i64", scalar<I, I, u>([](Wave& w, I a, u b) { return nonzero(w, a >> (b & 63)); })},
      {"s_bfm_b32",
       scalar<u, u, u>([](Wave&, u a, u b) { return ((1u << (a & 31)) - 1) << (b & 31); })},
      {"s_bfm_b64",
       scalar<U, u, u>([](Wave&, u a, u b) { return ((U{1} << (a & 63)) - 1) << (b & 63); })},
      {"s_bfe_u32", scalar<u, u, u>([](Wave& w, u a, u b) { return nonzero(w, bit_field(a, b)); })},
      {"s_bfe_i32", scalar<i, i, u>([](Wave& w, i a, u b) { return nonzero(w, bit_field(a, b)); })},
      {"s_bfe_u64", scalar<U, U, u>([](Wave& w, U a, u b) { return nonzero(w, bit_field(a, b)); })},
      {"s_bfe_i64", scalar<I, I, u>([](Wave& w, I a, u b) { return nonzero(w, bit_field(a, b)); })},
      {"s_pack_ll_b32_b16",
       scalar<u, u, u>([](Wave&, u a, u b) { return (a & 0xffff) | b << 16; })},
      {"s_pack_lh_b32_b16",
       scalar<u, u, u>([](Wave&, u a, u b) { return (a & 0xffff) | (b & 0xffff0000); })},
      {"s_pack_hh_b32_b16",
       scalar<u, u, u>([](Wave&, u a, u b) { return a >> 16 | (b & 0xffff0000); })},
      // SOP1
      {"s_mov_b32", scalar<u, u>([](Wave&, u a) { return a; })},
      {"s_mov_b64", scalar<U, U>([](Wave&, U a) { return a; })},
      {"s_cmov_b32",
       {[](Wave& w, const Instruction& x) {
          if (w.scc) w.scalar[x.destinations[0].index] = w.value32(x.sources[0]);
        },
        1}},
      {"s_cmov_b64",
       {[](Wave& w, const Instruction& x) {
          if (w.scc) w.set_scalar64(x.destinations[0].index, w.value64(x.sources[0]));
        },
        1,
        {ConstantForm::kInteger64}}},
      {"s_not_b32", scalar<u, u>([](Wave& w, u a) { return nonzero(w, ~a); })},
      {"s_not_b64", scalar<U, U>([](Wave& w, U a) { return nonzero(w, ~a); })},
      {"s_wqm_b32", scalar<u, u>([](Wave& w, u a) { return nonzero(w, whole_quads(a)); })},
      {"s_wqm_b64", scalar<U, U>([](Wave& w, U a) { return nonzero(w, whole_quads(a)); })},
      {"s_quadmask_b32", scalar<u, u>([](Wave& w, u a) { return nonzero(w, quad_mask(a)); })},
      {"s_quadmask_b64", scalar<U, U>([](Wave& w, U a) { return nonzero(w, quad_mask(a)); })},
      {"s_brev_b32", scalar<u, u>([](Wave&, u a) { return reversed(a); })},
      {"s_brev_b64", scalar<U, U>([](Wave&, U a) { return reversed(a); })},
      {"s_bcnt0_i32_b32", scalar<u, u>([](Wave& w, u a) { return nonzero(w, std::popcount(~a)); })},
      {"s_bcnt0_i32_b64", scalar<u, U>([](Wave& w, U a) { return nonzero(w, std::popcount(~a)); })},
      {"s_bcnt1_i32_b32", scalar<u, u>([](Wave& w, u a) { return nonzero(w, std::popcount(a)); })},
      {"s_bcnt1_i32_b64", scalar<u, U>([](Wave& w, U a) { return nonzero(w, std::popcount(a)); })},
      {"s_ff0_i32_b32", scalar<u, u>([](Wave&, u a) { return ~a == 0 ? -1 : std::countr_one(a); })},
      {"s_ff0_i32_b64", scalar<u, U>([](Wave&, U a) { return ~a == 0 ? -1 : std::countr_one(a); })},
      {"s_ff1_i32_b32", scalar<u, u>([](Wave&, u a) { return a == 0 ? -1 : std::countr_zero(a); })},
      {"s_ff1_i32_b64", scalar<u, U>([](Wave&, U a) { return a == 0 ? -1 : std::countr_zero(a); })},
      {"s_flbit_i32_b32", scalar<u, u>([](Wave&, u a) { return leading_zeros(a, 32); })},
      {"s_flbit_i32_b64", scalar<u, U>([](Wave&, U a) { return leading_zeros(a, 64); })},
      {"s_flbit_i32", scalar<u, u>([](Wave&, u a) { return sign_bits(a); })},
      {"s_sext_i32_i8", scalar<u, u>([](Wave&, u a) { return i{static_cast<std::int8_t>(a)}; })},
      {"s_sext_i32_i16", scalar<u, u>([](Wave&, u a) { return i{static_cast<std::int16_t>(a)}; })},
      {"s_abs_i32",
       scalar<u, u>([](Wave& w, u a) { return nonzero(w, static_cast<i>(a) < 0 ? 0u - a : a); })},
      {"s_bitset0_b32",
       {[](Wave& w, const Instruction& x) {
          w.scalar[x.destinations[0].index] &= ~(1u << (w.value32(x.sources[0]) & 31));
        },
        1}},
      {"s_bitset1_b32",
       {[](Wave& w, const Instruction& x) {
          w.scalar[x.destinations[0].index] |= 1u << (w.value32(x.sources[0]) & 31);
        },
        1}},
      {"s_bitset0_b64",
       {[](Wave& w, const Instruction& x) {
          const int d = x.destinations[0].index;
          w.set_scalar64(d, w.scalar64(d) & ~(U{1} << (w.value32(x.sources[0]) & 63)));
        },
        1}},
      {"s_bitset1_b64",
       {[](Wave& w, const Instruction& x) {
          const int d = x.destinations[0].index;
          w.set_scalar64(d, w.scalar64(d) | U{1} << (w.value32(x.sources[0]) & 63));
        },
        1}},
      {"s_and_saveexec_b64", save_exec([](U a, U exec) { return a & exec; })},
      {"s_or_saveexec_b64", save_exec([](U a, U exec) { return a | exec; })},
      {"s_xor_saveexec_b64", save_exec([](U a, U exec) { return a ^ exec; })},
      {"s_andn2_saveexec_b64", save_exec([](U a, U exec) { return a & ~exec; })},
      {"s_orn2_saveexec_b64", save_exec([](U a, U exec) { return a | ~exec; })},
      {"s_nand_saveexec_b64", save_exec([](U a, U exec) { return ~(a & exec); })},
      {"s_nor_saveexec_b64", save_exec([](U a, U exec) { return ~(a | exec); })},
      {"s_xnor_saveexec_b64", save_exec([](U a, U exec) { return ~(a ^ exec); })},
      {"s_andn1_saveexec_b64", save_exec([](U a, U exec) { return ~a & exec; })},
      {"s_orn1_saveexec_b64", save_exec([](U a, U exec) { return ~a | exec; })},
      {"s_andn1_wrexec_b64", write_exec([](U a, U exec) { return ~a & exec; })},
      {"s_andn2_wrexec_b64", write_exec([](U a, U exec) { return a & ~exec; })},
      // SOPK
      {"s_movk_i32", with_constant([](Wave&, i, i k) { return k; })},
      {"s_cmovk_i32", with_constant([](Wave& w, i d, i k) { return w.scc ? k : d; })},
      {"s_addk_i32", with_constant([](Wave& w, i d, i k) { return signed_sum(w, d, k); })},
      {"s_mulk_i32",
       with_constant([](Wave&, i d, i k) { return static_cast<u>(d) * static_cast<u>(k); })},
      {"s_cmpk_eq_i32", compare_constant<i>([](i a, i b) { return a == b; })},
      {"s_cmpk_lg_i32", compare_constant<i>([](i a, i b) { return a != b; })},
      {"s_cmpk_gt_i32", compare_constant<i>([](i a, i b) { return a > b; })},
      {"s_cmpk_ge_i32", compare_constant<i>([](i a, i b) { return a >= b; })},
      {"s_cmpk_lt_i32", compare_constant<i>([](i a, i b) { return a < b; })},
      {"s_cmpk_le_i32", compare_constant<i>([](i a, i b) { return a <= b; })},
      {"s_cmpk_eq_u32", compare_constant<u>([](u a, u b) { return a == b; })},
      {"s_cmpk_lg_u32", compare_constant<u>([](u a, u b) { return a != b; })},
      {"s_cmpk_gt_u32", compare_constant<u>([](u a, u b) { return a > b; })},
      {"s_cmpk_ge_u32", compare_constant<u>([](u a, u b) { return a >= b; })},
      {"s_cmpk_lt_u32", compare_constant<u>([](u a, u b) { return a < b; })},
      {"s_cmpk_le_u32", compare_constant<u>([](u a, u b) { return a <= b; })},
      // SOPC
      {"s_cmp_eq_i32", scalar_compare<i>([](i a, i b) { return a == b; })},
      {"s_cmp_lg_i32", scalar_compare<i>([](i a, i b) { return a != b; })},
      {"s_cmp_gt_i32", scalar_compare<i>([](i a, i b) { return a > b; })},
      {"s_cmp_ge_i32", scalar_compare<i>([](i a, i b) { return a >= b; })},
      {"s_cmp_lt_i32", scalar_compare<i>([](i a, i b) { return a < b; })},
      {"s_cmp_le_i32", scalar_compare<i>([](i a, i b) { return a <= b; })},
      {"s_cmp_eq_u32", scalar_compare<u>([](u a, u b) { return a == b; })},
      {"s_cmp_lg_u32", scalar_compare<u>([](u a, u b) { return a != b; })},
      {"s_cmp_gt_u32", scalar_compare<u>([](u a, u b) { return a > b; })},
      {"s_cmp_ge_u32", scalar_compare<u>([](u a, u b) { return a >= b; })},
      {"s_cmp_lt_u32", scalar_compare<u>([](u a, u b) { return a < b; })},
      {"s_cmp_le_u32", scalar_compare<u>([](u a, u b) { return a <= b; })},
      {"s_cmp_eq_u64", scalar_compare<U>([](U a, U b) { return a == b; })},
      {"s_cmp_lg_u64", scalar_compare<U>([](U a, U b) { return a != b; })},
      {"s_bitcmp0_b32", scalar_compare<u>([](u a, u b) { return (a >> (b & 31) & 1) == 0; })},
      {"s_bitcmp1_b32", scalar_compare<u>([](u a, u b) { return (a >> (b & 31) & 1) != 0; })},
      {"s_bitcmp0_b64", scalar_compare<U>([](U a, U b) { return (a >> (b & 63) & 1) == 0; })},
      {"s_bitcmp1_b64", scalar_compare<U>([](U a, U b) { return (a >> (b & 63) & 1) != 0; })},
  };
}

}  // namespace hone::emulator
