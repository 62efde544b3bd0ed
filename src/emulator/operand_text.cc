#include "emulator/operand_text.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string>

#include "emulator/number_formats.h"
#include "emulator/wave.h"

namespace hone::emulator {
namespace {

using std::string;
using std::string_view;

std::uint64_t constant_bits(string_view text, ConstantForm form, bool& known) {
  const std::optional<std::int64_t> whole = integer_of(text);
  const bool literal = text.starts_with("0x");
  if (whole && form == ConstantForm::kFloat64 && literal) {
    return static_cast<std::uint64_t>(*whole) << 32;
  }
  const auto pair = [](std::uint64_t bits) { return (bits & 0xffffffff) | bits << 32; };
  if (whole) {
    const auto bits = static_cast<std::uint64_t>(*whole);
    return form == ConstantForm::kPair32 ? pair(bits) : bits;
  }
  const string zero_ended(text);
  char* end = nullptr;
  const double value = std::strtod(zero_ended.c_str(), &end);
  known = end == zero_ended.c_str() + zero_ended.size() && !zero_ended.empty();
  switch (form) {
    case ConstantForm::k16:
      return float_to_half(static_cast<float>(value));
    case ConstantForm::kInteger64:
    case ConstantForm::kFloat64:
      return std::bit_cast<std::uint64_t>(value);
    case ConstantForm::kPair32:
      return pair(bits_of(static_cast<float>(value)));
    case ConstantForm::k32:
      break;
  }
  return bits_of(static_cast<float>(value));
}

struct NamedScalar {
  string_view name;
  int index;
  int dwords;
};
constexpr NamedScalar kNamedScalars[] = {
    {"vcc", kVcc, 2},
    {"vcc_lo", kVcc, 1},
    {"vcc_hi", kVcc + 1, 1},
    {"exec", kExec, 2},
    {"exec_lo", kExec, 1},
    {"exec_hi", kExec + 1, 1},
    {"m0", kM0, 1},
    {"flat_scratch", 102, 2},
    {"flat_scratch_lo", 102, 1},
    {"flat_scratch_hi", 103, 1},
    {"xnack_mask", 104, 2},
    {"xnack_mask_lo", 104, 1},
    {"xnack_mask_hi", 105, 1},
};
struct NamedConstant {
  string_view name;
  std::uint64_t value;
};
constexpr NamedConstant kNamedConstants[] = {
    {"src_shared_base", kSharedBase},
    {"src_private_base", kPrivateBase},
    {"src_shared_limit", kSharedBase | 0xffffffff},
    {"src_private_limit", kPrivateBase | 0xffffffff},
};

// "v3", "v[2:5]", "s7", "a[0:15]", "ttmp3": the first register and how many.
bool read_register(string_view text, Operand& operand) {
  int base = 0;
  if (text.starts_with("ttmp")) {
    operand.kind = Operand::Kind::kScalar;
    base = 108;
    text.remove_prefix(4);
  } else if (text.starts_with('v') || text.starts_with('a') || text.starts_with('s')) {
    operand.kind = text[0] == 's' ? Operand::Kind::kScalar : Operand::Kind::kVector;
    base = text[0] == 'a' ? kAccumulators : 0;
    text.remove_prefix(1);
  } else {
    return false;
  }
  std::optional<std::int64_t> first;
  std::optional<std::int64_t> last;
  if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
    const auto colon = text.find(':');
    first = integer_of(text.substr(0, colon));
    last = colon == string_view::npos ? first : integer_of(text.substr(colon + 1));
  } else {
    first = last = integer_of(text);
  }
  const int limit = operand.kind == Operand::Kind::kScalar ? kScalars : kAccumulators;
  if (!first || !last || *first < 0 || *last < *first || *last >= limit - base % kAccumulators)
    return false;
  operand.index = static_cast<std::uint16_t>(base + *first);
  operand.dwords = static_cast<std::uint8_t>(*last - *first + 1);
  return true;
}

}  // namespace

std::vector<string_view> tokens_of(string_view text) {
  std::vector<string_view> tokens;
  int depth = 0;
  std::size_t begin = 0;
  const auto finish = [&](std::size_t end) {
    if (end > begin) tokens.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth == 0 && (c == ',' || c == ' ' || c == '\t')) finish(at);
  }
  finish(text.size());
  return tokens;
}

std::optional<std::int64_t> integer_of(string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

std::vector<int> integers_in_brackets(string_view text) {
  std::vector<int> numbers;
  for (const string_view token : tokens_of(text.substr(1, text.size() - 2))) {
    numbers.push_back(static_cast<int>(integer_of(token).value_or(0)));
  }
  return numbers;
}

bool read_operand(string_view text, ConstantForm form, Operand& operand) {
  const auto strip = [&](string_view prefix, string_view suffix) {
    if (!text.starts_with(prefix) || !text.ends_with(suffix) ||
        text.size() <= prefix.size() + suffix.size())
      return false;
    text = text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
    return true;
  };
  if (text == "off") return true;
  if (text.starts_with("-") && text.size() > 1 &&
      std::isdigit(static_cast<unsigned char>(text[1])) == 0) {
    operand.negate = true;
    text.remove_prefix(1);
  }
  if (strip("neg(", ")")) operand.negate = true;
  if (strip("|", "|") || strip("abs(", ")")) operand.absolute = true;
  if (strip("sext(", ")")) operand.sign_extend = true;
  for (const NamedScalar& named : kNamedScalars) {
    if (text != named.name) continue;
    operand.kind = Operand::Kind::kScalar;
    operand.index = static_cast<std::uint16_t>(named.index);
    operand.dwords = static_cast<std::uint8_t>(named.dwords);
    return true;
  }
  operand.kind = Operand::Kind::kConstant;
  for (const NamedConstant& named : kNamedConstants) {
    if (text != named.name) continue;
    operand.constant = named.value;
    return true;
  }
  if (text == "scc" || text == "src_scc") {
    operand.kind = Operand::Kind::kScc;
    return true;
  }
  if (read_register(text, operand)) return true;
  operand.kind = Operand::Kind::kConstant;
  bool known = true;
  operand.constant = constant_bits(text, form, known);
  return known;
}

}  // namespace hone::emulator
