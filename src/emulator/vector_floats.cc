// The vector unit's arithmetic of f32, f16 and f64 (MI300 ISA, sections "VOP1" to "VOP3A and VOP3B
// Instructions").
//
// Transcendental functions of f32 take and give subnormals as zeros (LLVM, AMDGPULegalizerInfo: the
// scaling around v_exp_f32, v_log_f32, v_sqrt_f32 and v_rcp_f32); the hardware's last bit is not
// modelled.
#include <cmath>
#include <cstdint>
#include <limits>

#include "emulator/lanes.h"

namespace hone::emulator {
namespace {

constexpr double kTwoPi = 6.283185307179586476925;
constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

// minNum and maxNum: a NaN loses; -0 is below +0 (MODE.IEEE only quiets signalling NaNs).
template <class T>
T smaller(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T larger(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
// v_med3: with a NaN the smallest of the three.
template <class T>
T middle(T a, T b, T c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return smaller(smaller(a, b), c);
  const T top = larger(larger(a, b), c);
  if (top == a) return larger(b, c);
  if (top == b) return larger(a, c);
  return larger(a, b);
}

float flushed(float x) {
  return float_of(flush_f32(bits_of(x)));
}
// A function of f32 that knows no subnormals.
template <class Function>
float transcendental(float x, Function function) {
  return flushed(static_cast<float>(function(static_cast<double>(flushed(x)))));
}

// v_fract: below 1, also where x - floor(x) rounds to 1.
template <class T>
T fraction(T x) {
  const T below_one = std::nextafter(T{1}, T{0});
  const T result = x - std::floor(x);
  return result < below_one || std::isnan(result) ? result : below_one;
}
template <class T>
int exponent_of(T x) {
  if (!std::isfinite(x) || x == 0) return 0;
  return std::ilogb(x) + 1;
}
template <class T>
T mantissa_of(T x) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  return std::frexp(x, &exponent);
}
template <class T>
T scaled(T x, std::int32_t exponent) {
  return std::ldexp(x, exponent);
}
template <class T>
T to_even(T x) {
  return std::nearbyint(x);  // the host rounds to the nearest even, or as MODE says
}
double sine(double turns) {
  return std::isfinite(turns) ? std::sin(kTwoPi * (turns - std::floor(turns))) : kNotANumber;
}
double cosine(double turns) {
  return std::isfinite(turns) ? std::cos(kTwoPi * (turns - std::floor(turns))) : kNotANumber;
}
// "Legacy": 0 times anything is 0.
float legacy_product(float a, float b) {
  return a == 0 || b == 0 ? 0 : a * b;
}

// Division (MI300 ISA: V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP). Scale makes operands whose quotient,
// reciprocal or residue would pass the range; fmas undoes it; fixup gives the special cases.
template <class T>
struct DivisionRange;
template <>
struct DivisionRange<float> {
  static constexpr int kScale = 64;
  static constexpr int kFar = 96;  // exponents this far apart scale
  static constexpr int kMantissa = 23;
  static constexpr int kBias = 127;
};
template <>
struct DivisionRange<double> {
  static constexpr int kScale = 128;
  static constexpr int kFar = 768;
  static constexpr int kMantissa = 53;
  static constexpr int kBias = 1023;
};

template <class T>
int biased_exponent(T x) {
  if (x == 0 || std::fpclassify(x) == FP_SUBNORMAL) return 0;
  if (!std::isfinite(x)) return 2 * DivisionRange<T>::kBias + 1;
  return std::ilogb(x) + DivisionRange<T>::kBias;
}

// S0 is the operand to scale: S1 (the denominator) or S2 (the numerator).
template <class T>
T division_scaled(T s0, T denominator, T numerator, bool& scaled_back) {
  using Range = DivisionRange<T>;
  scaled_back = false;
  if (numerator == 0 || denominator == 0) return std::numeric_limits<T>::quiet_NaN();
  const int difference = biased_exponent(numerator) - biased_exponent(denominator);
  const bool is_denominator = std::memcmp(&s0, &denominator, sizeof s0) == 0;
  const bool is_numerator = std::memcmp(&s0, &numerator, sizeof s0) == 0;
  const auto up = [&] { return std::ldexp(s0, Range::kScale); };
  const auto tiny = [](T x) { return std::fpclassify(x) == FP_SUBNORMAL; };
  if (difference >= Range::kFar) {  // the quotient is near overflow
    scaled_back = true;
    return is_denominator ? up() : s0;
  }
  if (tiny(denominator)) return up();
  const bool reciprocal_tiny = tiny(T{1} / denominator);
  const bool quotient_tiny = tiny(numerator / denominator);
  const auto down = [&] { return std::ldexp(s0, -Range::kScale); };
  if (reciprocal_tiny && quotient_tiny) {  // down: the ISA's text says up, which is infinite there
    scaled_back = true;
    return is_denominator ? down() : s0;
  }
  if (reciprocal_tiny) return down();
  if (quotient_tiny) {
    scaled_back = true;
    return is_numerator ? up() : s0;
  }
  if (biased_exponent(numerator) <= Range::kMantissa) return up();
  return s0;
}

template <class T>
T division_fixed(T quotient, T denominator, T numerator) {
  const bool negative = std::signbit(denominator) != std::signbit(numerator);
  const auto with_sign = [&](T x) { return negative ? -x : x; };
  constexpr T kInfinite = std::numeric_limits<T>::infinity();
  if (std::isnan(numerator)) return numerator;
  if (std::isnan(denominator)) return denominator;
  if (denominator == 0 && numerator == 0) return std::numeric_limits<T>::quiet_NaN();
  if (std::isinf(denominator) && std::isinf(numerator)) return std::numeric_limits<T>::quiet_NaN();
  if (denominator == 0 || std::isinf(numerator)) return with_sign(kInfinite);
  if (std::isinf(denominator) || numerator == 0) return with_sign(T{0});
  const int difference = biased_exponent(numerator) - biased_exponent(denominator);
  // Beyond these the quotient that comes in is no number: it passed the range on the way.
  constexpr int kLargest = DivisionRange<T>::kBias + 2;
  constexpr int kLeast = sizeof(T) == 4 ? -150 : -1075;
  if (difference < kLeast) return with_sign(T{0});
  if (difference >= kLargest) return with_sign(kInfinite);
  return with_sign(std::fabs(quotient));
}

// v_div_fmas: where VCC says so, the result is scaled back, by the exponent of the third source.
template <class Type>
constexpr Semantics division_fmas() {
  return {[](Wave& wave, const Instruction& i) {
            using T = typename Type::Value;
            const SourcesOf<Type, Type, Type> sources(wave, i);
            const std::uint64_t scaled_back = wave.scalar64(kVcc);
            T values[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
              values[lane] = sources.of(lane, [&](T a, T b, T c) {
                const T sum = std::fma(a, b, c);
                if ((scaled_back >> lane & 1) == 0) return sum;
                const bool large = biased_exponent(c) > DivisionRange<T>::kBias;
                return std::ldexp(sum,
                                  large ? DivisionRange<T>::kScale : -DivisionRange<T>::kScale);
              });
            }
            Type::write(wave, i, i.destinations[0], values);
          },
          1,
          {Type::kForm, Type::kForm, Type::kForm},
          Type::kRounding};
}

// v_fmac: the destination is the third source.
template <class Type, class Source, class Function>
constexpr Semantics accumulates(Function) {
  return {[](Wave& wave, const Instruction& i) {
            const SourcesOf<Source, Source> sources(wave, i);
            const typename Type::Source before(wave, i, i.destinations[0]);
            typename Type::Value values[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
              values[lane] =
                  sources.of(lane, [&](auto a, auto b) { return Function{}(a, b, before[lane]); });
            }
            Type::write(wave, i, i.destinations[0], values);
          },
          1,
          {Source::kForm, Source::kForm},
          Type::kRounding};
}

// v_fma_mix: each source is f32, or a half of f16 where op_sel_hi says so.
struct Mixed {
  using Value = float;
  static constexpr ConstantForm kForm = ConstantForm::k32;
  static constexpr RoundingClass kRounding = RoundingClass::kSingle;
  struct Source {
    float values[kLanes];
    Source(const Wave& wave, const Instruction& i, const Operand& o) {
      const auto index = &o - i.sources.data();
      // A float constant of a half is that number too, which the decoder wrote as f32.
      const bool half = (i.op_sel_hi >> index & 1) != 0 && !is_f32(o);
      const int shift = (i.op_sel >> index & 1) != 0 ? 16 : 0;
      std::uint32_t buffer[kLanes];
      const std::uint32_t* bits = wave.lanes(i, o, 0, buffer);
      for (int lane = 0; lane < kLanes; ++lane) {
        const float value =
            half ? half_to_float(bits[lane] >> shift & 0xffff) : float_of(bits[lane]);
        values[lane] = float_of(with_signs(bits_of(value), o, 1u << 31));
      }
    }
    float operator[](int lane) const { return values[lane]; }
    // Integers have equal bits above the lower half.
    static bool is_f32(const Operand& o) {
      const std::uint64_t high = o.constant >> 16 & 0xffff;
      return o.kind == Operand::Kind::kConstant && high != 0 && high != 0xffff;
    }
  };
};
template <bool High>
struct MixedHalf : F16 {
  static void write(Wave& wave, const Instruction& i, const Operand& o, float* values) {
    std::uint32_t out[kLanes];
    rounded(wave, i, values, out);
    Instruction half = i;
    half.op_sel = High ? 8 : 0;
    write_half(wave, half, o, out);
  }
};

}  // namespace

std::vector<TableEntry> vector_floats() {
  return {
      // f32
      {"v_add_f32", lanes<F32, F32, F32>([](float a, float b) { return a + b; })},
      {"v_sub_f32", lanes<F32, F32, F32>([](float a, float b) { return a - b; })},
      {"v_subrev_f32", lanes<F32, F32, F32>([](float a, float b) { return b - a; })},
      {"v_mul_f32", lanes<F32, F32, F32>([](float a, float b) { return a * b; })},
      {"v_mul_legacy_f32",
       lanes<F32, F32, F32>([](float a, float b) { return legacy_product(a, b); })},
      {"v_fma_f32",
       lanes<F32, F32, F32, F32>([](float a, float b, float c) { return std::fma(a, b, c); })},
      {"v_fmaak_f32",
       lanes<F32, F32, F32, F32>([](float a, float b, float c) { return std::fma(a, b, c); })},
      // The constant stands in the middle of the text as it does in the product.
      {"v_fmamk_f32",
       lanes<F32, F32, F32, F32>([](float a, float b, float c) { return std::fma(a, b, c); })},
      {"v_fmac_f32",
       accumulates<F32, F32>([](float a, float b, float c) { return std::fma(a, b, c); })},
      {"v_min_f32", lanes<F32, F32, F32>([](float a, float b) { return smaller(a, b); })},
      {"v_max_f32", lanes<F32, F32, F32>([](float a, float b) { return larger(a, b); })},
      {"v_min3_f32", lanes<F32, F32, F32, F32>(
                         [](float a, float b, float c) { return smaller(smaller(a, b), c); })},
      {"v_max3_f32", lanes<F32, F32, F32, F32>(
                         [](float a, float b, float c) { return larger(larger(a, b), c); })},
      {"v_med3_f32",
       lanes<F32, F32, F32, F32>([](float a, float b, float c) { return middle(a, b, c); })},
      {"v_fract_f32", lanes<F32, F32>([](float a) { return fraction(a); })},
      {"v_trunc_f32", lanes<F32, F32>([](float a) { return std::trunc(a); })},
      {"v_ceil_f32", lanes<F32, F32>([](float a) { return std::ceil(a); })},
      {"v_floor_f32", lanes<F32, F32>([](float a) { return std::floor(a); })},
      {"v_rndne_f32", lanes<F32, F32>([](float a) { return to_even(a); })},
      {"v_exp_f32", lanes<F32, F32>([](float a) {
         return transcendental(a, [](double x) { return std::exp2(x); });
       })},
      {"v_exp_legacy_f32", lanes<F32, F32>([](float a) {
         return transcendental(a, [](double x) { return std::exp2(x); });
       })},
      {"v_log_f32", lanes<F32, F32>([](float a) {
         return transcendental(a, [](double x) { return std::log2(x); });
       })},
      {"v_log_legacy_f32", lanes<F32, F32>([](float a) {
         return transcendental(a, [](double x) { return std::log2(x); });
       })},
      {"v_rcp_f32",
       lanes<F32, F32>([](float a) { return transcendental(a, [](double x) { return 1 / x; }); })},
      {"v_rcp_iflag_f32",
       lanes<F32, F32>([](float a) { return transcendental(a, [](double x) { return 1 / x; }); })},
      {"v_rsq_f32", lanes<F32, F32>([](float a) {
         return transcendental(a, [](double x) { return 1 / std::sqrt(x); });
       })},
      {"v_sqrt_f32", lanes<F32, F32>([](float a) {
         return transcendental(a, [](double x) { return std::sqrt(x); });
       })},
      {"v_sin_f32", lanes<F32, F32>([](float a) { return transcendental(a, sine); })},
      {"v_cos_f32", lanes<F32, F32>([](float a) { return transcendental(a, cosine); })},
      {"v_frexp_exp_i32_f32", lanes<I32, F32>([](float a) { return exponent_of(a); })},
      {"v_frexp_mant_f32", lanes<F32, F32>([](float a) { return mantissa_of(a); })},
      {"v_ldexp_f32", lanes<F32, F32, I32>([](float a, std::int32_t b) { return scaled(a, b); })},
      {"v_div_scale_f32",
       lanes_with_bit<F32, F32, F32, F32>(
           [](float a, float b, float c, bool& bit) { return division_scaled(a, b, c, bit); })},
      {"v_div_fmas_f32", division_fmas<F32>()},
      {"v_div_fixup_f32", lanes<F32, F32, F32, F32>(
                              [](float a, float b, float c) { return division_fixed(a, b, c); })},
      {"v_fma_mix_f32", lanes<F32, Mixed, Mixed, Mixed>(
                            [](float a, float b, float c) { return std::fma(a, b, c); })},
      {"v_fma_mixlo_f16", lanes<MixedHalf<false>, Mixed, Mixed, Mixed>(
                              [](float a, float b, float c) { return std::fma(a, b, c); })},
      {"v_fma_mixhi_f16", lanes<MixedHalf<true>, Mixed, Mixed, Mixed>(
                              [](float a, float b, float c) { return std::fma(a, b, c); })},
      // f16: sums and products of f16 in f32 are exact or round twice without harm (24 >= 2 * 11 +
      // 2 bits)
      {"v_add_f16", lanes<F16, F16, F16>([](float a, float b) { return a + b; })},
      {"v_sub_f16", lanes<F16, F16, F16>([](float a, float b) { return a - b; })},
      {"v_subrev_f16", lanes<F16, F16, F16>([](float a, float b) { return b - a; })},
      {"v_mul_f16", lanes<F16, F16, F16>([](float a, float b) { return a * b; })},
      {"v_fma_f16", lanes<F16Kept, F16, F16, F16>(
                        [](float a, float b, float c) { return fma_to_odd(a, b, c); })},
      {"v_fma_legacy_f16",
       lanes<F16, F16, F16, F16>([](float a, float b, float c) { return fma_to_odd(a, b, c); })},
      {"v_fmac_f16",
       accumulates<F16, F16>([](float a, float b, float c) { return fma_to_odd(a, b, c); })},
      {"v_min_f16", lanes<F16, F16, F16>([](float a, float b) { return smaller(a, b); })},
      {"v_max_f16", lanes<F16, F16, F16>([](float a, float b) { return larger(a, b); })},
      {"v_min3_f16", lanes<F16Kept, F16, F16, F16>(
                         [](float a, float b, float c) { return smaller(smaller(a, b), c); })},
      {"v_max3_f16", lanes<F16Kept, F16, F16, F16>(
                         [](float a, float b, float c) { return larger(larger(a, b), c); })},
      {"v_med3_f16",
       lanes<F16Kept, F16, F16, F16>([](float a, float b, float c) { return middle(a, b, c); })},
      {"v_fract_f16", lanes<F16, F16>([](float a) { return fraction(a); })},
      {"v_trunc_f16", lanes<F16, F16>([](float a) { return std::trunc(a); })},
      {"v_ceil_f16", lanes<F16, F16>([](float a) { return std::ceil(a); })},
      {"v_floor_f16", lanes<F16, F16>([](float a) { return std::floor(a); })},
      {"v_rndne_f16", lanes<F16, F16>([](float a) { return to_even(a); })},
      {"v_exp_f16", lanes<F16, F16>([](float a) { return std::exp2(a); })},
      {"v_log_f16", lanes<F16, F16>([](float a) { return std::log2(a); })},
      {"v_rcp_f16", lanes<F16, F16>([](float a) { return 1 / a; })},
      {"v_rsq_f16", lanes<F16, F16>([](float a) { return 1 / std::sqrt(a); })},
      {"v_sqrt_f16", lanes<F16, F16>([](float a) { return std::sqrt(a); })},
      {"v_sin_f16", lanes<F16, F16>([](float a) { return sine(a); })},
      {"v_cos_f16", lanes<F16, F16>([](float a) { return cosine(a); })},
      {"v_frexp_exp_i16_f16", lanes<I16, F16>([](float a) { return exponent_of(a); })},
      {"v_frexp_mant_f16", lanes<F16, F16>([](float a) { return mantissa_of(a); })},
      {"v_ldexp_f16", lanes<F16, F16, I16>([](float a, std::int16_t b) { return scaled(a, b); })},
      {"v_div_fixup_f16", lanes<F16Kept, F16, F16, F16>(
                              [](float a, float b, float c) { return division_fixed(a, b, c); })},
      {"v_div_fixup_legacy_f16", lanes<F16, F16, F16, F16>([](float a, float b, float c) {
         return division_fixed(a, b, c);
       })},
      // f64
      {"v_add_f64", lanes<F64, F64, F64>([](double a, double b) { return a + b; })},
      {"v_mul_f64", lanes<F64, F64, F64>([](double a, double b) { return a * b; })},
      {"v_fma_f64",
       lanes<F64, F64, F64, F64>([](double a, double b, double c) { return std::fma(a, b, c); })},
      {"v_fmac_f64",
       accumulates<F64, F64>([](double a, double b, double c) { return std::fma(a, b, c); })},
      {"v_min_f64", lanes<F64, F64, F64>([](double a, double b) { return smaller(a, b); })},
      {"v_max_f64", lanes<F64, F64, F64>([](double a, double b) { return larger(a, b); })},
      {"v_fract_f64", lanes<F64, F64>([](double a) { return fraction(a); })},
      {"v_trunc_f64", lanes<F64, F64>([](double a) { return std::trunc(a); })},
      {"v_ceil_f64", lanes<F64, F64>([](double a) { return std::ceil(a); })},
      {"v_floor_f64", lanes<F64, F64>([](double a) { return std::floor(a); })},
      {"v_rndne_f64", lanes<F64, F64>([](double a) { return to_even(a); })},
      {"v_rcp_f64", lanes<F64, F64>([](double a) { return 1 / a; })},
      {"v_rsq_f64", lanes<F64, F64>([](double a) { return 1 / std::sqrt(a); })},
      {"v_sqrt_f64", lanes<F64, F64>([](double a) { return std::sqrt(a); })},
      {"v_frexp_exp_i32_f64", lanes<I32, F64>([](double a) { return exponent_of(a); })},
      {"v_frexp_mant_f64", lanes<F64, F64>([](double a) { return mantissa_of(a); })},
      {"v_ldexp_f64", lanes<F64, F64, I32>([](double a, std::int32_t b) { return scaled(a, b); })},
      {"v_div_scale_f64",
       lanes_with_bit<F64, F64, F64, F64>(
           [](double a, double b, double c, bool& bit) { return division_scaled(a, b, c, bit); })},
      {"v_div_fmas_f64", division_fmas<F64>()},
      {"v_div_fixup_f64", lanes<F64, F64, F64, F64>([](double a, double b, double c) {
         return division_fixed(a, b, c);
       })},
  };
}

}  // namespace hone::emulator
