#include "problem/npy.h"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "base/json.h"
#include "problem/check.h"

namespace hone::problem {
namespace {

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr std::size_t kHeaderAt = 10;  // after the magic and the header's 16-bit length

// Codes behind the byte order of a descr such as "<f4", and the type each is read as. For a type
// with several codes, the first is written.
constexpr std::pair<ElementType, std::string_view> kDescrKinds[] = {
    {ElementType::kI1, "b1"},  {ElementType::kI8, "i1"},   {ElementType::kI8, "u1"},
    {ElementType::kI8, "V1"},  {ElementType::kI16, "i2"},  {ElementType::kI16, "u2"},
    {ElementType::kI32, "i4"}, {ElementType::kI32, "u4"},  {ElementType::kI64, "i8"},
    {ElementType::kI64, "u8"}, {ElementType::kBF16, "V2"}, {ElementType::kF16, "f2"},
    {ElementType::kF32, "f4"}, {ElementType::kF64, "f8"}};

std::string descr_of(ElementType type) {
  if (type == ElementType::kF8E4M3 || type == ElementType::kF8E5M2) return "|u1";
  return fmt::format("{}{}", byte_size(type) == 1 ? '|' : '<', name_in(kDescrKinds, type));
}

// Accepts any byte order for single-byte types.
std::optional<ElementType> element_type_of(std::string_view descr) {
  if (descr.size() != 3 || std::string_view("<|=>").find(descr[0]) == std::string_view::npos)
    return std::nullopt;
  if (descr[0] == '>' && descr[2] != '1') return std::nullopt;
  for (const auto& [type, kind] : kDescrKinds)
    if (descr.substr(1) == kind) return type;
  return std::nullopt;
}

// Bytes the elements take; nullopt if the product overflows.
std::optional<std::size_t> payload_bytes(const TensorType& type) {
  std::size_t bytes = static_cast<std::size_t>(byte_size(type.element));
  for (const std::int64_t extent : type.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes))
      return std::nullopt;
  return bytes;
}

// Converts from Fortran order, where the first index runs fastest, to row-major order.
std::string row_major(std::string_view payload, const TensorType& type) {
  const auto size = static_cast<std::size_t>(byte_size(type.element));
  const std::size_t rank = type.shape.size();
  std::vector<std::size_t> strides(rank), index(rank, 0);
  std::size_t stride = size;
  for (std::size_t d = 0; d < rank; ++d) {
    strides[d] = stride;
    stride *= static_cast<std::size_t>(type.shape[d]);
  }
  std::string bytes(payload.size(), '\0');
  std::size_t from = 0;
  for (std::size_t to = 0; to < bytes.size(); to += size) {
    std::memcpy(bytes.data() + to, payload.data() + from, size);
    for (std::size_t d = rank; d-- > 0;) {
      from += strides[d];
      if (++index[d] < static_cast<std::size_t>(type.shape[d])) break;
      from -= strides[d] * index[d];
      index[d] = 0;
    }
  }
  return bytes;
}

// Whether elements that NumPy calls `held` may be the bits of `wanted`.
bool stands_for(ElementType held, ElementType wanted) {
  if (byte_size(held) != byte_size(wanted) || (is_float(held) && held != ElementType::kBF16))
    return false;
  return wanted == ElementType::kBF16 || wanted == ElementType::kF8E4M3 ||
         wanted == ElementType::kF8E5M2 || wanted == ElementType::kI1 ||
         (held == ElementType::kI1 && wanted == ElementType::kI8);
}

// The header of a file: a Python dictionary as text.
struct Header {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads the few Python literals that such a dictionary uses. Input error, naming the place, for
// anything but the three keys, each once: a string, True or False, and a tuple of integers that are
// not negative.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  Result<Header> read() {
    Header header;
    bool descr = false, order = false, shape = false;
    HONE_TRY(expect('{'));
    while (!accept('}')) {
      HONE_ASSIGN(const std::string key, string());
      HONE_TRY(expect(':'));
      bool& seen = key == "descr" ? descr : key == "fortran_order" ? order : shape;
      if (key != "descr" && key != "fortran_order" && key != "shape")
        return wrong(fmt::format("it has a key '{}'", key));
      if (seen) return wrong(fmt::format("it has '{}' twice", key));
      seen = true;
      if (key == "descr") {
        HONE_ASSIGN(header.descr, descr_text());
      } else if (key == "fortran_order") {
        HONE_ASSIGN(header.fortran_order, truth());
      } else {
        HONE_ASSIGN(header.shape, tuple());
      }
      if (!accept(',') && !next_is('}')) return wrong("'}' is missing");
    }
    skip_blanks();
    if (at_ != text_.size()) return wrong("there is more after its '}'");
    for (const auto& [seen, key] :
         {std::pair(descr, "descr"), std::pair(order, "fortran_order"), std::pair(shape, "shape")})
      if (!seen) return wrong(fmt::format("it has no '{}'", key));
    return header;
  }

 private:
  tl::unexpected<Error> wrong(std::string_view what) const {
    return input_error("not a .npy file that can be read: {} (header, character {})", what, at_);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool next_is(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool accept(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  bool accept(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  Status expect(char c) {
    if (!accept(c)) return wrong(fmt::format("'{}' is missing", c));
    return {};
  }

  Result<std::string> string() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    const std::size_t end =
        quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) return wrong("a quoted word is missing");
    const std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
    if (word.find('\\') != std::string_view::npos) return wrong("a word has a '\\'");
    at_ = end + 1;
    return std::string(word);
  }

  Result<std::string> descr_text() {
    if (next_is('[')) return input_error("this .npy file holds records, not a plain array");
    return string();
  }

  Result<bool> truth() {
    if (accept("True")) return true;
    if (accept("False")) return false;
    return wrong("'fortran_order' is neither True nor False");
  }

  Result<std::vector<std::int64_t>> tuple() {
    std::vector<std::int64_t> values;
    if (!accept('(')) return wrong("'shape' is no tuple");
    while (!accept(')')) {
      skip_blanks();
      std::int64_t value = 0;
      const auto [next, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc() || value < 0) return wrong("bad extent in its 'shape'");
      at_ = static_cast<std::size_t>(next - text_.data());
      accept('L');  // as Python 2 wrote it
      values.push_back(value);
      if (!accept(',') && !next_is(')')) return wrong("bad extent in its 'shape'");
    }
    return values;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Array zeros_of(TensorType type) {
  const auto size = static_cast<std::size_t>(byte_size(type));
  return {std::move(type), std::string(size, '\0')};
}

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
  if (file[6] < 1 || file[6] > 3)
    return input_error("this .npy file has version {}; versions 1 to 3 can be read",
                       static_cast<int>(static_cast<unsigned char>(file[6])));
  const std::size_t begin = file[6] == 1 ? kHeaderAt : 12;  // a 16-bit or a 32-bit length before it
  if (file.size() < begin) return input_error("not a .npy file that can be read: it is cut off");
  std::size_t length = 0;
  for (std::size_t i = begin; i-- > 8;) length = length << 8 | static_cast<unsigned char>(file[i]);
  if (file.size() - begin < length)
    return input_error("not a .npy file that can be read: its header is cut off");
  HONE_ASSIGN(const Header header, HeaderReader(file.substr(begin, length)).read());

  const auto element = element_type_of(header.descr);
  if (!element)
    return input_error(
        "this .npy file holds elements of type '{}'; readable are little-endian "
        "bool, int, uint and float",
        header.descr);
  Array array{{*element, header.shape}, {}};
  HONE_TRY(check(array.type));
  const auto bytes = payload_bytes(array.type);
  const std::string_view payload = file.substr(begin + length);
  if (!bytes || payload.size() < *bytes)
    return input_error("this .npy file of {} holds {} bytes of data, too few",
                       to_string(array.type), payload.size());
  array.bytes = header.fortran_order ? row_major(payload.substr(0, *bytes), array.type)
                                     : std::string(payload.substr(0, *bytes));
  return array;
}

Result<Array> as_tensor(Array array, const TensorType& wanted) {
  if (array.type.shape != wanted.shape)
    return input_error("it holds {}, but {} is wanted: another shape", to_string(array.type),
                       to_string(wanted));
  if (array.type.element != wanted.element && !stands_for(array.type.element, wanted.element))
    return input_error("it holds {}, but {} is wanted: another element type", to_string(array.type),
                       to_string(wanted));
  array.type = wanted;
  return array;
}

}  // namespace hone::problem
