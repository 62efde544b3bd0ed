// How vector instructions are written: a function of one lane's values, with the types of its
// operands.
//
//   {"v_add_f32", lanes<F32, F32, F32>([](float a, float b) { return a + b; })}
//
// The types say how an operand is read and written: its registers, neg and abs, subnormals, halves
// and constants. Shared by the units of the instruction table; not for others.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "emulator/instruction_table.h"
#include "emulator/wave.h"

namespace hone::emulator {

constexpr std::size_t kLaneCount = kLanes;

// Sources. Each type reads 64 lanes when it is made, and gives a lane's value by [].

template <class T, ConstantForm Form>
struct Bits32 {
  using Value = T;
  static constexpr ConstantForm kForm = Form;
  static constexpr RoundingClass kRounding = RoundingClass::kNone;
  struct Source {
    std::uint32_t buffer[kLanes];
    const std::uint32_t* bits;
    Source(const Wave& wave, const Instruction& i, const Operand& o)
        : bits(wave.lanes(i, o, 0, buffer)) {}
    T operator[](int lane) const { return static_cast<T>(bits[lane]); }
  };
  static void write(Wave& wave, const Instruction& i, const Operand& o, const T* values) {
    std::uint32_t out[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = static_cast<std::uint32_t>(values[lane]);
    wave.write(i, o, 0, out);
  }
};
using U32 = Bits32<std::uint32_t, ConstantForm::k32>;
using I32 = Bits32<std::int32_t, ConstantForm::k32>;

template <class T>
struct Bits64 {
  using Value = T;
  static constexpr ConstantForm kForm = ConstantForm::kInteger64;
  static constexpr RoundingClass kRounding = RoundingClass::kNone;
  struct Source {
    std::uint32_t buffer[2][kLanes];
    const std::uint32_t* low;
    const std::uint32_t* high;
    Source(const Wave& wave, const Instruction& i, const Operand& o)
        : low(wave.lanes(i, o, 0, buffer[0])), high(wave.lanes(i, o, 1, buffer[1])) {}
    T operator[](int lane) const {
      return static_cast<T>(low[lane] | std::uint64_t{high[lane]} << 32);
    }
  };
  static void write(Wave& wave, const Instruction& i, const Operand& o, const T* values) {
    std::uint32_t out[2][kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<std::uint64_t>(values[lane]);
      out[0][lane] = static_cast<std::uint32_t>(value);
      out[1][lane] = static_cast<std::uint32_t>(value >> 32);
    }
    wave.write(i, o, 0, out[0]);
    wave.write(i, o, 1, out[1]);
  }
};
using U64 = Bits64<std::uint64_t>;
using I64 = Bits64<std::int64_t>;

// Whether op_sel has a source read its high half; no for operands that are no sources.
inline bool reads_high_half(const Instruction& i, const Operand& o) {
  for (std::size_t index = 0; index < i.sources.size(); ++index) {
    if (&o == &i.sources[index]) return (i.op_sel >> index & 1) != 0;
  }
  return false;
}

// A half of a register: op_sel chooses it. The result's other half becomes zero.
template <class T>
struct Bits16 {
  using Value = T;
  static constexpr ConstantForm kForm = ConstantForm::k16;
  static constexpr RoundingClass kRounding = RoundingClass::kNone;
  struct Source {
    std::uint32_t buffer[kLanes];
    const std::uint32_t* bits;
    int shift;
    Source(const Wave& wave, const Instruction& i, const Operand& o)
        : bits(wave.lanes(i, o, 0, buffer)), shift(reads_high_half(i, o) ? 16 : 0) {}
    T operator[](int lane) const { return static_cast<T>(bits[lane] >> shift & 0xffffu); }
  };
  static void write(Wave& wave, const Instruction& i, const Operand& o, const T* values) {
    std::uint32_t out[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = static_cast<std::uint16_t>(values[lane]);
    wave.write(i, o, 0, out);
  }
};
using U16 = Bits16<std::uint16_t>;
using I16 = Bits16<std::int16_t>;

// neg and abs of a float operand, in bits.
inline std::uint32_t with_signs(std::uint32_t bits, const Operand& o, std::uint32_t sign) {
  if (o.absolute) bits &= ~sign;
  if (o.negate) bits ^= sign;
  return bits;
}

// omod and clamp of a float result.
template <class T>
void scale_and_clamp(const Instruction& i, T* values) {
  if (i.output_scale != 0) {
    const T factor = i.output_scale == 1 ? T{2} : i.output_scale == 2 ? T{4} : T{0.5};
    for (int lane = 0; lane < kLanes; ++lane) values[lane] *= factor;
  }
  if (i.clamp) {  // DX10_CLAMP: NaN becomes 0
    for (int lane = 0; lane < kLanes; ++lane) {
      values[lane] = values[lane] > T{0} ? (values[lane] < T{1} ? values[lane] : T{1}) : T{0};
    }
  }
}

struct F32 {
  using Value = float;
  static constexpr ConstantForm kForm = ConstantForm::k32;
  static constexpr RoundingClass kRounding = RoundingClass::kSingle;
  struct Source {
    std::uint32_t buffer[kLanes];
    const std::uint32_t* bits;
    Source(const Wave& wave, const Instruction& i, const Operand& o)
        : bits(wave.lanes(i, o, 0, buffer)) {
      if (o.modified()) {
        for (int lane = 0; lane < kLanes; ++lane)
          buffer[lane] = with_signs(bits[lane], o, 1u << 31);
        bits = buffer;
      }
      if (!wave.keeps_f32_inputs()) {
        for (int lane = 0; lane < kLanes; ++lane) buffer[lane] = flush_f32(bits[lane]);
        bits = buffer;
      }
    }
    float operator[](int lane) const { return float_of(bits[lane]); }
  };
  static void write(Wave& wave, const Instruction& i, const Operand& o, float* values) {
    if (i.output_scale != 0 || i.clamp) scale_and_clamp(i, values);
    std::uint32_t out[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = bits_of(values[lane]);
    if (!wave.keeps_f32_outputs()) {
      for (int lane = 0; lane < kLanes; ++lane) out[lane] = flush_f32(out[lane]);
    }
    wave.write(i, o, 0, out);
  }
};

struct F64 {
  using Value = double;
  static constexpr ConstantForm kForm = ConstantForm::kFloat64;
  static constexpr RoundingClass kRounding = RoundingClass::kDouble;
  struct Source {
    double values[kLanes];
    Source(const Wave& wave, const Instruction& i, const Operand& o) {
      const U64::Source bits(wave, i, o);
      for (int lane = 0; lane < kLanes; ++lane) {
        std::uint64_t x = bits[lane];
        if (o.absolute) x &= ~(std::uint64_t{1} << 63);
        if (o.negate) x ^= std::uint64_t{1} << 63;
        values[lane] = std::bit_cast<double>(x);
        if (!wave.keeps_f16_f64_inputs()) values[lane] = flush_f64(values[lane]);
      }
    }
    double operator[](int lane) const { return values[lane]; }
  };
  static void write(Wave& wave, const Instruction& i, const Operand& o, double* values) {
    scale_and_clamp(i, values);
    std::uint64_t out[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const double value = wave.keeps_f16_f64_outputs() ? values[lane] : flush_f64(values[lane]);
      out[lane] = std::bit_cast<std::uint64_t>(value);
    }
    U64::write(wave, i, o, out);
  }
};

// f16 as a float. The functions' results are rounded to f16 when they are written.
struct F16 {
  using Value = float;
  static constexpr ConstantForm kForm = ConstantForm::k16;
  static constexpr RoundingClass kRounding = RoundingClass::kNone;  // float_to_half() rounds
  struct Source {
    float values[kLanes];
    Source(const Wave& wave, const Instruction& i, const Operand& o) {
      const U16::Source bits(wave, i, o);
      const bool keeps = wave.keeps_f16_f64_inputs();
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t x = with_signs(bits[lane], o, 0x8000u);
        values[lane] = half_to_float(keeps ? x : flush_f16(x));
      }
    }
    float operator[](int lane) const { return values[lane]; }
  };
  static void rounded(Wave& wave, const Instruction& i, float* values, std::uint32_t* out) {
    scale_and_clamp(i, values);
    const Rounding rounding = wave.rounding_f16_f64();
    if (rounding == Rounding::kNearestEven) {
      for (int lane = 0; lane < kLanes; ++lane) out[lane] = float_to_half(values[lane]);
    } else {
      for (int lane = 0; lane < kLanes; ++lane) out[lane] = float_to_half(values[lane], rounding);
    }
    if (!wave.keeps_f16_f64_outputs()) {
      for (int lane = 0; lane < kLanes; ++lane) out[lane] = flush_f16(out[lane]);
    }
  }
  static void write(Wave& wave, const Instruction& i, const Operand& o, float* values) {
    std::uint32_t out[kLanes];
    rounded(wave, i, values, out);
    wave.write(i, o, 0, out);
  }
};

// A 16-bit result whose other half is kept; op_sel bit 3 chooses the high half (LLVM,
// zeroesHigh16BitsOfDest: the VOP3 instructions of GFX9 that have op_sel).
inline void write_half(Wave& wave, const Instruction& i, const Operand& o, std::uint32_t* out) {
  const Wave::Register& before = wave.vector[o.index];
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    out[lane] = (i.op_sel & 8) != 0 ? (before[lane] & 0xffffu) | out[lane] << 16
                                    : (before[lane] & 0xffff0000u) | (out[lane] & 0xffffu);
  }
  wave.write(i, o, 0, out);
}
struct F16Kept : F16 {
  static void write(Wave& wave, const Instruction& i, const Operand& o, float* values) {
    std::uint32_t out[kLanes];
    rounded(wave, i, values, out);
    write_half(wave, i, o, out);
  }
};
template <class T>
struct Bits16Kept : Bits16<T> {
  static void write(Wave& wave, const Instruction& i, const Operand& o, const T* values) {
    std::uint32_t out[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = static_cast<std::uint16_t>(values[lane]);
    write_half(wave, i, o, out);
  }
};
using U16Kept = Bits16Kept<std::uint16_t>;
using I16Kept = Bits16Kept<std::int16_t>;

// A bit for each lane in a pair of scalar registers: a condition.
struct Condition {
  using Value = bool;
  static constexpr ConstantForm kForm = ConstantForm::kInteger64;
  static constexpr RoundingClass kRounding = RoundingClass::kNone;
  struct Source {
    std::uint64_t bits;
    Source(const Wave& wave, const Instruction&, const Operand& o) : bits(wave.value64(o)) {}
    bool operator[](int lane) const { return (bits >> lane & 1) != 0; }
  };
};

// -- from a function of one lane to a handler --

template <class... Types>
constexpr RoundingClass rounding_of() {
  RoundingClass rounding = RoundingClass::kNone;
  ((rounding = Types::kRounding == RoundingClass::kNone ? rounding : Types::kRounding), ...);
  return rounding;
}

// The sources of an instruction, each read once. They hold pointers into themselves, so they are
// never moved.
template <std::size_t Index, class Type>
struct SourceAt {
  typename Type::Source source;
  SourceAt(const Wave& wave, const Instruction& i) : source(wave, i, i.sources[Index]) {}
  SourceAt(const SourceAt&) = delete;
};
template <class Indices, class... Types>
struct SourceList;
template <std::size_t... Index, class... Types>
struct SourceList<std::index_sequence<Index...>, Types...> : SourceAt<Index, Types>... {
  SourceList(const Wave& wave, const Instruction& i) : SourceAt<Index, Types>(wave, i)... {}
  // The function of lane `lane` of each source, and of `more`.
  template <class Function, class... More>
  auto of(int lane, Function function, More&... more) const {
    return function(SourceAt<Index, Types>::source[lane]..., more...);
  }
};
template <class... Types>
using SourcesOf = SourceList<std::index_sequence_for<Types...>, Types...>;

// A result in each lane.
template <class Result, class... Sources, class Function>
constexpr Semantics lanes(Function) {
  return {[](Wave& wave, const Instruction& i) {
            const SourcesOf<Sources...> sources(wave, i);
            typename Result::Value values[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
              values[lane] = static_cast<typename Result::Value>(sources.of(lane, Function{}));
            }
            Result::write(wave, i, i.destinations[0], values);
          },
          1,
          {Sources::kForm...},
          rounding_of<Result, Sources...>()};
}

// The same, and a bit for each lane in the second destination: function(values..., bool& bit).
template <class Result, class... Sources, class Function>
constexpr Semantics lanes_with_bit(Function) {
  return {[](Wave& wave, const Instruction& i) {
            const SourcesOf<Sources...> sources(wave, i);
            typename Result::Value values[kLanes];
            std::uint64_t bits = 0;
            for (int lane = 0; lane < kLanes; ++lane) {
              bool bit = false;
              values[lane] = static_cast<typename Result::Value>(sources.of(lane, Function{}, bit));
              bits |= std::uint64_t{bit} << lane;
            }
            // Inactive lanes' bits are zero.
            bits &= wave.written_lanes(i);
            Result::write(wave, i, i.destinations[0], values);
            wave.set_scalar64(i.destinations[1].index, bits);
          },
          2,
          {Sources::kForm...},
          rounding_of<Result, Sources...>()};
}

// A condition in each lane, to a pair of scalar registers and to EXEC where the entry says so
// (v_cmpx).
template <class... Sources, class Function>
constexpr Semantics compares(Function) {
  return {[](Wave& wave, const Instruction& i) {
            const SourcesOf<Sources...> sources(wave, i);
            bool values[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) values[lane] = sources.of(lane, Function{});
            std::uint64_t bits = 0;
            for (int lane = 0; lane < kLanes; ++lane) bits |= std::uint64_t{values[lane]} << lane;
            bits &= wave.written_lanes(i);
            wave.set_scalar64(i.destinations[0].index, bits);
            if (i.writes_exec) wave.set_scalar64(kExec, bits);
          },
          1,
          {Sources::kForm...},
          RoundingClass::kNone};
}

}  // namespace hone::emulator
