#include "problem/argument_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "problem/types.h"

namespace hone::problem {
namespace {

// Types beside those of ElementType: `mlir` names it in a program, `tool` in IREE's tools.
struct FormRow {
  std::string_view mlir, tool;
  ElementType carrier;
  ArgumentForm form;
};
constexpr std::array<FormRow, 8> kForms{
    {{"i2", "i2", ElementType::kI8, ArgumentForm::kI2},
     {"i4", "i4", ElementType::kI8, ArgumentForm::kI4},
     {"f8E4M3FN", "f8E4M3FN", ElementType::kF8E4M3, ArgumentForm::kF8E4M3},
     {"f8E5M2", "f8E5M2", ElementType::kF8E5M2, ArgumentForm::kF8E5M2},
     {"f8E4M3FNUZ", "f8E4M3FNUZ", ElementType::kF32, ArgumentForm::kF8E4M3FNUZ},
     {"f8E5M2FNUZ", "f8E5M2FNUZ", ElementType::kF32, ArgumentForm::kF8E5M2FNUZ},
     {"complex<f32>", "cf64", ElementType::kF32, ArgumentForm::kComplex},
     {"complex<f64>", "cf128", ElementType::kF64, ArgumentForm::kComplex}}};

// The 256 values of a format without infinities and negative zero (MLIR's FNUZ), in rising order,
// each with its code. The code of negative zero is the only NaN.
struct Code {
  double value;
  std::uint8_t bits;
};
std::array<Code, 255> codes_of(int mantissa_bits, int bias) {
  std::array<Code, 255> codes{};
  std::size_t count = 0;
  for (int bits = 0; bits < 256; ++bits) {
    if (bits == 0x80) continue;
    const int magnitude = bits & 0x7F, exponent = magnitude >> mantissa_bits;
    const double mantissa = std::ldexp(magnitude & ((1 << mantissa_bits) - 1), -mantissa_bits);
    const double value =
        exponent == 0 ? std::ldexp(mantissa, 1 - bias) : std::ldexp(1 + mantissa, exponent - bias);
    codes[count++] = {bits < 0x80 ? value : -value, static_cast<std::uint8_t>(bits)};
  }
  std::ranges::sort(codes, {}, &Code::value);
  return codes;
}

const std::array<Code, 255>& codes_of(ArgumentForm form) {
  static const std::array<Code, 255> kE4M3 = codes_of(3, 8), kE5M2 = codes_of(2, 16);
  return form == ArgumentForm::kF8E4M3FNUZ ? kE4M3 : kE5M2;
}

std::uint8_t nearest(const std::array<Code, 255>& codes, double value) {
  if (std::isnan(value)) return 0x80;
  const auto above = std::ranges::lower_bound(codes, value, {}, &Code::value);
  if (above == codes.begin()) return above->bits;
  const auto below = above - 1;
  if (above == codes.end()) return below->bits;
  const double up = above->value - value, down = value - below->value;
  if (up == down) return (above->bits & 1) == 0 ? above->bits : below->bits;
  return up < down ? above->bits : below->bits;
}

template <class T>
T element(const std::string& bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

std::size_t count_of(const Array& array) {
  return static_cast<std::size_t>(element_count(array.type));
}

int bits_of(ArgumentForm form) {
  return form == ArgumentForm::kI2 ? 2 : 4;
}

std::string packed(const Array& array, int bits) {
  const std::size_t each = 8 / static_cast<std::size_t>(bits), count = count_of(array);
  std::string bytes((count + each - 1) / each, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned value = element<std::uint8_t>(array.bytes, i) & ((1u << bits) - 1);
    auto& byte = bytes[i / each];
    byte = static_cast<char>(static_cast<std::uint8_t>(byte) |
                             value << (static_cast<unsigned>(bits) * (i % each)));
  }
  return bytes;
}

std::string unpacked(const std::string& bytes, std::size_t count, int bits) {
  const std::size_t each = 8 / static_cast<std::size_t>(bits);
  std::string values(count, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned byte = static_cast<std::uint8_t>(bytes[i / each]);
    const unsigned value = byte >> (static_cast<unsigned>(bits) * (i % each)) & ((1u << bits) - 1);
    const bool negative = (value >> (bits - 1)) != 0;
    values[i] = static_cast<char>(negative ? value | ~((1u << bits) - 1) : value);
  }
  return values;
}

std::string text_of_scalar(const Array& array) {
  switch (array.type.element) {
    case ElementType::kF32:
      return fmt::format("{}", element<float>(array.bytes, 0));
    case ElementType::kF64:
      return fmt::format("{}", element<double>(array.bytes, 0));
    case ElementType::kI64:
      return fmt::format("{}", element<std::int64_t>(array.bytes, 0));
    case ElementType::kI32:
      return fmt::format("{}", element<std::int32_t>(array.bytes, 0));
    case ElementType::kI16:
      return fmt::format("{}", element<std::int16_t>(array.bytes, 0));
    default:
      return fmt::format("{}", static_cast<int>(element<std::int8_t>(array.bytes, 0)));
  }
}

std::size_t bytes_in_form(const ArgumentType& type) {
  const auto count = static_cast<std::size_t>(element_count(type.carrier));
  switch (type.form) {
    case ArgumentForm::kI2:
    case ArgumentForm::kI4: {
      const auto each = static_cast<std::size_t>(8 / bits_of(type.form));
      return (count + each - 1) / each;
    }
    case ArgumentForm::kF8E4M3FNUZ:
    case ArgumentForm::kF8E5M2FNUZ:
      return count;
    default:
      return count * static_cast<std::size_t>(byte_size(type.carrier.element));
  }
}

}  // namespace

std::optional<ArgumentType> argument_type_from(std::string_view tensor) {
  for (const FormRow& row : kForms) {
    if (!tensor.ends_with(row.mlir)) continue;
    const std::string shape(tensor.substr(0, tensor.size() - row.mlir.size()));
    if (!shape.empty() && !shape.ends_with('x')) continue;
    const char* const pair = row.form == ArgumentForm::kComplex ? "2x" : "";
    const auto carrier = tensor_type_from(shape + pair + std::string(name_of(row.carrier)));
    if (carrier) return ArgumentType{*carrier, row.form};
  }
  if (const auto plain = tensor_type_from(tensor)) return ArgumentType{*plain};
  return std::nullopt;
}

std::string text_of(const ArgumentType& type) {
  const auto row = std::ranges::find_if(kForms, [&](const FormRow& each) {
    return each.form == type.form && each.carrier == type.carrier.element;
  });
  if (row == kForms.end()) return to_string(type.carrier);
  std::string text;
  const bool has_pairs = type.form == ArgumentForm::kComplex;
  for (std::size_t d = 0; d + (has_pairs ? 1 : 0) < type.carrier.shape.size(); ++d)
    text += fmt::format("{}x", type.carrier.shape[d]);
  return text += row->tool;
}

std::string in_form(const Array& array, ArgumentForm form) {
  switch (form) {
    case ArgumentForm::kScalar:
      return text_of_scalar(array);
    case ArgumentForm::kI2:
    case ArgumentForm::kI4:
      return packed(array, bits_of(form));
    case ArgumentForm::kF8E4M3FNUZ:
    case ArgumentForm::kF8E5M2FNUZ: {
      const auto& codes = codes_of(form);
      std::string bytes(count_of(array), '\0');
      for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(nearest(codes, element<float>(array.bytes, i)));
      return bytes;
    }
    default:
      return array.bytes;
  }
}

Result<Array> from_form(std::string bytes, const ArgumentType& type) {
  if (bytes.size() != bytes_in_form(type))
    return input_error("{} bytes for {}", bytes.size(), text_of(type));
  Array array{type.carrier, {}};
  if (type.form == ArgumentForm::kI2 || type.form == ArgumentForm::kI4) {
    array.bytes = unpacked(bytes, count_of(array), bits_of(type.form));
  } else if (type.form == ArgumentForm::kF8E4M3FNUZ || type.form == ArgumentForm::kF8E5M2FNUZ) {
    std::array<float, 256> values{};
    values[0x80] = std::numeric_limits<float>::quiet_NaN();
    for (const Code& code : codes_of(type.form)) values[code.bits] = static_cast<float>(code.value);
    array.bytes.resize(bytes.size() * sizeof(float));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      std::memcpy(array.bytes.data() + i * sizeof(float),
                  &values[static_cast<std::uint8_t>(bytes[i])], sizeof(float));
  } else {
    array.bytes = std::move(bytes);
  }
  return array;
}

}  // namespace hone::problem
