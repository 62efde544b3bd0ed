// Comparisons: VOPC (MI300 ISA, section "VOPC Instructions"). v_cmpx writes EXEC too.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/lanes.h"

namespace hone::emulator {
namespace {

// Adds a comparison as v_cmp and as v_cmpx.
void add_both(std::vector<TableEntry>& table, const std::string& name, Semantics semantics) {
  table.push_back({"v_cmp_" + name, semantics});
  semantics.writes_exec = true;
  table.push_back({"v_cmpx_" + name, semantics});
}

template <class Type, class Function>
void add_comparison(std::vector<TableEntry>& table, std::string_view operation,
                    std::string_view type, Function function) {
  add_both(table, std::string(operation).append("_").append(type), compares<Type, Type>(function));
}

// Integers: f, lt, eq, le, gt, ne, ge, t.
template <class Type>
void add_integers(std::vector<TableEntry>& table, std::string_view type) {
  using T = typename Type::Value;
  add_comparison<Type>(table, "f", type, [](T, T) { return false; });
  add_comparison<Type>(table, "lt", type, [](T a, T b) { return a < b; });
  add_comparison<Type>(table, "eq", type, [](T a, T b) { return a == b; });
  add_comparison<Type>(table, "le", type, [](T a, T b) { return a <= b; });
  add_comparison<Type>(table, "gt", type, [](T a, T b) { return a > b; });
  add_comparison<Type>(table, "ne", type, [](T a, T b) { return a != b; });
  add_comparison<Type>(table, "ge", type, [](T a, T b) { return a >= b; });
  add_comparison<Type>(table, "t", type, [](T, T) { return true; });
}

// Floats: ordered comparisons are false with a NaN, those with "n" are their negations; o and u ask
// for NaN.
template <class Type>
void add_floats(std::vector<TableEntry>& table, std::string_view type) {
  using T = typename Type::Value;
  add_comparison<Type>(table, "f", type, [](T, T) { return false; });
  add_comparison<Type>(table, "lt", type, [](T a, T b) { return a < b; });
  add_comparison<Type>(table, "eq", type, [](T a, T b) { return a == b; });
  add_comparison<Type>(table, "le", type, [](T a, T b) { return a <= b; });
  add_comparison<Type>(table, "gt", type, [](T a, T b) { return a > b; });
  add_comparison<Type>(table, "lg", type, [](T a, T b) { return a < b || a > b; });
  add_comparison<Type>(table, "ge", type, [](T a, T b) { return a >= b; });
  add_comparison<Type>(table, "o", type, [](T a, T b) { return a == a && b == b; });
  add_comparison<Type>(table, "u", type, [](T a, T b) { return a != a || b != b; });
  add_comparison<Type>(table, "nge", type, [](T a, T b) { return !(a >= b); });
  add_comparison<Type>(table, "nlg", type, [](T a, T b) { return !(a < b || a > b); });
  add_comparison<Type>(table, "ngt", type, [](T a, T b) { return !(a > b); });
  add_comparison<Type>(table, "nle", type, [](T a, T b) { return !(a <= b); });
  add_comparison<Type>(table, "neq", type, [](T a, T b) { return a != b; });
  add_comparison<Type>(table, "nlt", type, [](T a, T b) { return !(a < b); });
  add_comparison<Type>(table, "tru", type, [](T, T) { return true; });
}

// v_cmp_class: bit 0 signalling NaN, 1 quiet NaN, 2 -inf, 3 -normal, 4 -subnormal, 5 -0, 6 +0, 7
// +subnormal, 8 +normal, 9 +inf.
bool in_class(std::uint64_t bits, int mantissa_bits, int exponent_bits, std::uint32_t classes) {
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << mantissa_bits) - 1);
  const std::uint64_t all_ones = (std::uint64_t{1} << exponent_bits) - 1;
  const std::uint64_t exponent = bits >> mantissa_bits & all_ones;
  const bool negative = (bits >> (mantissa_bits + exponent_bits) & 1) != 0;
  int number = 0;
  if (exponent == all_ones && mantissa != 0) {
    number = (mantissa >> (mantissa_bits - 1) & 1) != 0 ? 1 : 0;
  } else if (exponent == all_ones) {
    number = negative ? 2 : 9;
  } else if (exponent != 0) {
    number = negative ? 3 : 8;
  } else if (mantissa != 0) {
    number = negative ? 4 : 7;
  } else {
    number = negative ? 5 : 6;
  }
  return (classes >> number & 1) != 0;
}

}  // namespace

std::vector<TableEntry> vector_compares() {
  std::vector<TableEntry> table;
  add_integers<I16>(table, "i16");
  add_integers<U16>(table, "u16");
  add_integers<I32>(table, "i32");
  add_integers<U32>(table, "u32");
  add_integers<I64>(table, "i64");
  add_integers<U64>(table, "u64");
  add_floats<F16>(table, "f16");
  add_floats<F32>(table, "f32");
  add_floats<F64>(table, "f64");
  const auto class_f16 = [](float a, std::uint32_t b) {
    return in_class(float_to_half(a), 10, 5, b);
  };
  const auto class_f32 = [](float a, std::uint32_t b) { return in_class(bits_of(a), 23, 8, b); };
  const auto class_f64 = [](double a, std::uint32_t b) {
    return in_class(std::bit_cast<std::uint64_t>(a), 52, 11, b);
  };
  add_both(table, "class_f16", compares<F16, U32>(class_f16));
  add_both(table, "class_f32", compares<F32, U32>(class_f32));
  add_both(table, "class_f64", compares<F64, U32>(class_f64));
  return table;
}

}  // namespace hone::emulator
