// Conversions between number formats (MI300 ISA: V_CVT_*, V_PACK_*).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "emulator/lanes.h"

namespace hone::emulator {
namespace {

// Float to integer: towards zero, saturated; NaN is 0.
template <class T, class Float>
T to_integer(Float value) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return 0;
  const double whole = std::trunc(static_cast<double>(value));
  if (whole <= static_cast<double>(Limits::min())) return Limits::min();
  if (whole >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<T>(whole);
}

// A normalised number: -1 to 1, or 0 to 1, over the range of T.
template <class T>
std::uint32_t normalised(float value) {
  constexpr float kLargest = std::numeric_limits<T>::max();
  constexpr float kLeast = std::numeric_limits<T>::min() < 0 ? -1 : 0;
  if (std::isnan(value)) return 0;
  const float clamped = std::clamp(value, kLeast, 1.0f);
  return static_cast<std::uint16_t>(static_cast<std::int32_t>(std::nearbyint(clamped * kLargest)));
}

std::uint32_t two_halves(std::uint32_t low, std::uint32_t high) {
  return (low & 0xffff) | high << 16;
}

// v_cvt_f32_f16 and others read one format and write another; these are for formats without a type
// of their own.

// v_cvt_pk_fp8_f32 writes two bytes: the high half where op_sel bit 3 is set, and keeps the other
// half.
template <std::uint32_t (*Encode)(float, bool)>
constexpr Semantics packs_two_bytes() {
  return {[](Wave& wave, const Instruction& i) {
            const SourcesOf<F32, F32> sources(wave, i);
            const bool saturate = (wave.mode >> 23 & 1) != 0;
            std::uint32_t out[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
              out[lane] = sources.of(lane, [&](float a, float b) {
                return Encode(a, saturate) | Encode(b, saturate) << 8;
              });
            }
            write_half(wave, i, i.destinations[0], out);
          },
          1,
          {ConstantForm::k32, ConstantForm::k32}};
}
// v_cvt_f32_fp8: a byte by SDWA, or by op_sel as VOP3 (both bits choose: bit 0 the byte of a half,
// bit 1 the half).
template <float (*Decode)(std::uint32_t)>
constexpr Semantics one_byte_to_float() {
  return {[](Wave& wave, const Instruction& i) {
            const U32::Source source(wave, i, i.sources[0]);
            // LLVM prints op_sel:[a,b] of the encoded byte a * 2 + b reversed: bit 0 is worth 1
            // byte.
            const int shift = 8 * (i.op_sel & 3);
            float values[kLanes];
            for (int lane = 0; lane < kLanes; ++lane)
              values[lane] = Decode(source[lane] >> shift & 0xff);
            F32::write(wave, i, i.destinations[0], values);
          },
          1};
}
// v_cvt_pk_f32_fp8: two floats of a half's two bytes.
template <float (*Decode)(std::uint32_t)>
constexpr Semantics two_bytes_to_floats() {
  return {[](Wave& wave, const Instruction& i) {
            const U32::Source source(wave, i, i.sources[0]);
            const int shift = (i.op_sel & 1) != 0 ? 16 : 0;
            std::uint32_t low[kLanes];
            std::uint32_t high[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
              low[lane] = bits_of(Decode(source[lane] >> shift & 0xff));
              high[lane] = bits_of(Decode(source[lane] >> (shift + 8) & 0xff));
            }
            wave.write(i, i.destinations[0], 0, low);
            wave.write(i, i.destinations[0], 1, high);
          },
          1};
}

}  // namespace

std::vector<TableEntry> vector_conversions() {
  using u32 = std::uint32_t;
  using i32 = std::int32_t;
  using u16 = std::uint16_t;
  using i16 = std::int16_t;
  return {
      // integers
      {"v_cvt_f32_i32", lanes<F32, I32>([](i32 a) { return static_cast<float>(a); })},
      {"v_cvt_f32_u32", lanes<F32, U32>([](u32 a) { return static_cast<float>(a); })},
      {"v_cvt_i32_f32", lanes<I32, F32>([](float a) { return to_integer<i32>(a); })},
      {"v_cvt_u32_f32", lanes<U32, F32>([](float a) { return to_integer<u32>(a); })},
      {"v_cvt_rpi_i32_f32",
       lanes<I32, F32>([](float a) { return to_integer<i32>(std::floor(a + 0.5f)); })},
      {"v_cvt_flr_i32_f32",
       lanes<I32, F32>([](float a) { return to_integer<i32>(std::floor(a)); })},
      {"v_cvt_f64_i32", lanes<F64, I32>([](i32 a) { return static_cast<double>(a); })},
      {"v_cvt_f64_u32", lanes<F64, U32>([](u32 a) { return static_cast<double>(a); })},
      {"v_cvt_i32_f64", lanes<I32, F64>([](double a) { return to_integer<i32>(a); })},
      {"v_cvt_u32_f64", lanes<U32, F64>([](double a) { return to_integer<u32>(a); })},
      {"v_cvt_f16_i16", lanes<F16, I16>([](i16 a) { return static_cast<float>(a); })},
      {"v_cvt_f16_u16", lanes<F16, U16>([](u16 a) { return static_cast<float>(a); })},
      {"v_cvt_i16_f16", lanes<I16, F16>([](float a) { return to_integer<i16>(a); })},
      {"v_cvt_u16_f16", lanes<U16, F16>([](float a) { return to_integer<u16>(a); })},
      {"v_cvt_f32_ubyte0", lanes<F32, U32>([](u32 a) { return static_cast<float>(a & 255); })},
      {"v_cvt_f32_ubyte1", lanes<F32, U32>([](u32 a) { return static_cast<float>(a >> 8 & 255); })},
      {"v_cvt_f32_ubyte2",
       lanes<F32, U32>([](u32 a) { return static_cast<float>(a >> 16 & 255); })},
      {"v_cvt_f32_ubyte3", lanes<F32, U32>([](u32 a) { return static_cast<float>(a >> 24); })},
      {"v_cvt_off_f32_i4", lanes<F32, U32>([](u32 a) {
         return static_cast<float>(static_cast<i32>(a << 28) >> 28) / 16;
       })},
      {"v_cvt_pk_i16_i32", lanes<U32, I32, I32>([](i32 a, i32 b) {
         return two_halves(static_cast<u32>(std::clamp(a, -32768, 32767)),
                           static_cast<u32>(std::clamp(b, -32768, 32767)));
       })},
      {"v_cvt_pk_u16_u32", lanes<U32, U32, U32>([](u32 a, u32 b) {
         return two_halves(std::min(a, 65535u), std::min(b, 65535u));
       })},
      {"v_cvt_pk_u8_f32", lanes<U32, F32, U32, U32>([](float a, u32 b, u32 c) {
         const u32 shift = 8 * (b & 3);
         const u32 byte = to_integer<std::uint8_t>(std::nearbyint(a));
         return (c & ~(255u << shift)) | byte << shift;
       })},
      {"v_sat_pk_u8_i16", lanes<U16, U32>([](u32 a) {
         const int low = std::clamp<int>(static_cast<i16>(a), 0, 255);
         const int high = std::clamp<int>(static_cast<i16>(a >> 16), 0, 255);
         return low | high << 8;
       })},
      // floats
      {"v_cvt_f16_f32", lanes<F16, F32>([](float a) { return a; })},
      {"v_cvt_f32_f16", lanes<F32, F16>([](float a) { return a; })},
      {"v_cvt_f64_f32", lanes<F64, F32>([](float a) { return static_cast<double>(a); })},
      {"v_cvt_f32_f64", lanes<F32, F64>([](double a) { return static_cast<float>(a); })},
      {"v_cvt_pkrtz_f16_f32", lanes<U32, F32, F32>([](float a, float b) {
         return two_halves(float_to_half(a, Rounding::kToZero),
                           float_to_half(b, Rounding::kToZero));
       })},
      {"v_pack_b32_f16", lanes<U32, U16, U16>([](u16 a, u16 b) { return two_halves(a, b); })},
      {"v_cvt_pknorm_i16_f32", lanes<U32, F32, F32>([](float a, float b) {
         return two_halves(normalised<i16>(a), normalised<i16>(b));
       })},
      {"v_cvt_pknorm_u16_f32", lanes<U32, F32, F32>([](float a, float b) {
         return two_halves(normalised<u16>(a), normalised<u16>(b));
       })},
      // fp8 and bf8, FNUZ
      {"v_cvt_pk_fp8_f32", packs_two_bytes<float_to_fp8>()},
      {"v_cvt_pk_bf8_f32", packs_two_bytes<float_to_bf8>()},
      {"v_cvt_f32_fp8", one_byte_to_float<fp8_to_float>()},
      {"v_cvt_f32_bf8", one_byte_to_float<bf8_to_float>()},
      {"v_cvt_pk_f32_fp8", two_bytes_to_floats<fp8_to_float>()},
      {"v_cvt_pk_f32_bf8", two_bytes_to_floats<bf8_to_float>()},
  };
}

}  // namespace hone::emulator
