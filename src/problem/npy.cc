#include "problem/npy.h"

#include <charconv>
#include <cstdint>
#include <limits>

#include "problem/check.h"

namespace hone::problem {
namespace {

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr std::size_t kHeaderAt = 10;  // after the magic and the header's 16-bit length

std::string_view descr_of(ElementType type) {
  switch (type) {
    case ElementType::kI1:
      return "|b1";
    case ElementType::kI8:
      return "|i1";
    case ElementType::kI16:
      return "<i2";
    case ElementType::kI32:
      return "<i4";
    case ElementType::kI64:
      return "<i8";
    case ElementType::kF8E4M3:
    case ElementType::kF8E5M2:
      return "|u1";
    case ElementType::kBF16:
      return "<u2";
    case ElementType::kF16:
      return "<f2";
    case ElementType::kF32:
      return "<f4";
    case ElementType::kF64:
      return "<f8";
  }
  return "|u1";
}

std::optional<ElementType> element_type_of(std::string_view descr) {
  for (const ElementType type :
       {ElementType::kI1, ElementType::kI8, ElementType::kI16, ElementType::kI32, ElementType::kI64,
        ElementType::kF16, ElementType::kF32, ElementType::kF64})
    if (descr_of(type) == descr) return type;
  if (descr == "|u1") return ElementType::kI8;
  if (descr == "<u2") return ElementType::kI16;
  if (descr == "<u4") return ElementType::kI32;
  if (descr == "<u8") return ElementType::kI64;
  return std::nullopt;
}

// The text after "'key':" in the header's dictionary, without leading blanks; empty when absent.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return {};
  const std::size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) return {};
  const std::size_t begin = header.find_first_not_of(' ', colon + 1);
  return begin == std::string_view::npos ? std::string_view{} : header.substr(begin);
}

Result<std::vector<std::int64_t>> parse_shape(std::string_view text) {
  const std::size_t close = text.find(')');
  if (text.empty() || text.front() != '(' || close == std::string_view::npos)
    return input_error("not a .npy file that can be read: its header has no 'shape'");
  std::vector<std::int64_t> shape;
  const char* at = text.data() + 1;
  const char* const end = text.data() + close;
  while (at != end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 0)
      return input_error("not a .npy file that can be read: bad extent in its 'shape'");
    shape.push_back(extent);
    at = next;
  }
  return shape;
}

// Bytes the elements take, or nothing when the product does not fit.
std::optional<std::size_t> payload_bytes(const TensorType& type) {
  std::size_t bytes = static_cast<std::size_t>(byte_size(type.element));
  for (const std::int64_t extent : type.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes))
      return std::nullopt;
  return bytes;
}

}  // namespace

std::string to_npy(const Array& array) {
  std::string shape;
  for (const std::int64_t extent : array.type.shape) shape += fmt::format("{},", extent);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   descr_of(array.type.element), shape);
  // The payload starts at a multiple of 64 bytes and the header ends with a newline.
  header.resize((kHeaderAt + header.size() + 64) / 64 * 64 - kHeaderAt - 1, ' ');
  header += '\n';
  std::string file(kMagic);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + array.bytes;
}

Result<Array> from_npy(std::string_view file) {
  if (file.size() < kHeaderAt || file.substr(0, 6) != kMagic.substr(0, 6))
    return input_error("not a .npy file: it does not begin with NumPy's magic bytes");
  const bool wide = file[6] != 1;  // versions 2 and 3 have a 32-bit header length
  const std::size_t begin = wide ? 12 : kHeaderAt;
  if (file.size() < begin) return input_error("not a .npy file that can be read: it is cut off");
  std::size_t length = 0;
  for (std::size_t i = begin; i-- > 8;) length = length << 8 | static_cast<unsigned char>(file[i]);
  if (file.size() - begin < length)
    return input_error("not a .npy file that can be read: its header is cut off");
  const std::string_view header = file.substr(begin, length);

  const std::string_view descr = value_of(header, "descr");
  const std::size_t quote = descr.size() > 1 ? descr.find('\'', 1) : std::string_view::npos;
  const std::string_view name =
      quote == std::string_view::npos ? std::string_view{} : descr.substr(1, quote - 1);
  const auto element = element_type_of(name);
  if (!element)
    return input_error(
        "this .npy file holds elements of type '{}'; readable are little-endian "
        "bool, int, uint and float",
        name);
  if (value_of(header, "fortran_order").substr(0, 5) != "False")
    return input_error("this .npy file is in Fortran order; save numpy.ascontiguousarray(x)");
  Array array;
  array.type.element = *element;
  HONE_ASSIGN(array.type.shape, parse_shape(value_of(header, "shape")));
  HONE_TRY(check(array.type));
  const auto bytes = payload_bytes(array.type);
  const std::string_view payload = file.substr(begin + length);
  if (!bytes || payload.size() < *bytes)
    return input_error("this .npy file of {} holds {} bytes of data, too few",
                       to_string(array.type), payload.size());
  array.bytes = payload.substr(0, *bytes);
  return array;
}

}  // namespace hone::problem
