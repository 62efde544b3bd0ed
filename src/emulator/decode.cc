#include "emulator/decode.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "emulator/instruction_table.h"
#include "emulator/number_formats.h"
#include "emulator/wave.h"

namespace hone::emulator {
namespace {

using std::string;
using std::string_view;

// Tokens at commas and blanks outside of brackets.
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

// A decimal or hexadecimal integer, with a sign; nullopt for anything else.
std::optional<std::int64_t> integer_of(string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  const auto number = static_cast<std::int64_t>(value);
  return negative ? -number : number;
}

// "[1,0,3,2]"
std::vector<int> integers_in_brackets(string_view text) {
  std::vector<int> numbers;
  for (const string_view token : tokens_of(text.substr(1, text.size() - 2))) {
    numbers.push_back(static_cast<int>(integer_of(token).value_or(0)));
  }
  return numbers;
}

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
  if (!first || !last || *first < 0 || *last < *first) return false;
  operand.index = static_cast<std::uint16_t>(base + *first);
  operand.dwords = static_cast<std::uint8_t>(*last - *first + 1);
  return true;
}

// Reads an operand; false if its text means nothing here.
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

// -- DPP (MI300 ISA, section "DPP") --

void fill_lanes(DppLanes& lanes, auto from) {
  for (int lane = 0; lane < kLanes; ++lane) {
    lanes.from[static_cast<std::size_t>(lane)] = static_cast<std::int8_t>(from(lane));
  }
}

bool read_dpp_control(string_view key, string_view value, DppLanes& lanes) {
  const int amount = static_cast<int>(integer_of(value).value_or(0));
  const auto in_row = [](int lane, int other) {
    return other < 0 || other > 15 ? -1 : (lane & ~15) + other;
  };
  if (key == "quad_perm") {
    const std::vector<int> order = integers_in_brackets(value);
    if (order.size() != 4) return false;
    fill_lanes(lanes,
               [&](int lane) { return (lane & ~3) + order[static_cast<std::size_t>(lane & 3)]; });
  } else if (key == "row_shl") {
    fill_lanes(lanes, [&](int lane) { return in_row(lane, (lane & 15) + amount); });
  } else if (key == "row_shr") {
    fill_lanes(lanes, [&](int lane) { return in_row(lane, (lane & 15) - amount); });
  } else if (key == "row_ror") {
    fill_lanes(lanes, [&](int lane) { return (lane & ~15) + ((lane - amount) & 15); });
  } else if (key == "row_newbcast") {
    fill_lanes(lanes, [&](int lane) { return (lane & ~15) + (amount & 15); });
  } else if (key == "row_bcast" && amount == 15) {  // to the next row
    fill_lanes(lanes, [&](int lane) { return lane < 16 ? -1 : (lane & ~15) - 1; });
  } else if (key == "row_bcast" && amount == 31) {  // to the upper half
    fill_lanes(lanes, [&](int lane) { return lane < 32 ? -1 : 31; });
  } else if (key == "row_mirror") {
    fill_lanes(lanes, [&](int lane) { return (lane & ~15) + 15 - (lane & 15); });
  } else if (key == "row_half_mirror") {
    fill_lanes(lanes, [&](int lane) { return (lane & ~7) + 7 - (lane & 7); });
  } else if (key == "wave_shl") {
    fill_lanes(lanes, [&](int lane) { return lane == 63 ? -1 : lane + 1; });
  } else if (key == "wave_rol") {
    fill_lanes(lanes, [&](int lane) { return (lane + 1) & 63; });
  } else if (key == "wave_shr") {
    fill_lanes(lanes, [&](int lane) { return lane - 1; });
  } else if (key == "wave_ror") {
    fill_lanes(lanes, [&](int lane) { return (lane - 1) & 63; });
  } else {
    return false;
  }
  return true;
}

std::uint64_t lanes_of_masks(int row_mask, int bank_mask) {
  std::uint64_t enabled = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const bool on = (row_mask >> (lane / 16) & 1) != 0 && (bank_mask >> (lane / 4 % 4) & 1) != 0;
    enabled |= std::uint64_t{on} << lane;
  }
  return enabled;
}

// -- modifiers --

int sdwa_select(string_view text) {
  constexpr string_view kNames[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                    "WORD_0", "WORD_1", "DWORD"};
  for (int i = 0; i < 7; ++i) {
    if (kNames[i] == text) return i;
  }
  return 6;
}

// Modifiers as written, before it is known which operands they are for.
struct Modifiers {
  std::vector<int> op_sel;
  std::vector<int> op_sel_hi;
  std::vector<int> neg_lo;
  std::vector<int> neg_hi;
  std::optional<DppLanes> dpp;
  int row_mask = 15;
  int bank_mask = 15;
  bool zero_outside = false;
  int select[2] = {6, 6};
};

// Reads one modifier. False: the token is none. `unknown` is set for one that has no meaning here.
bool read_modifier(string_view token, Instruction& i, Modifiers& more, string& unknown) {
  const auto colon = token.find(':');
  const auto bracket = token.find_first_of("[(");
  const string_view key = token.substr(0, colon);
  if (colon == string_view::npos || (bracket != string_view::npos && bracket < colon)) {
    if (token == "offen") return i.offen = true;
    if (token == "idxen") return i.idxen = true;
    if (token == "lds") return i.to_lds = true;
    if (token == "sc0") return i.returns = true;
    if (token == "glc") return i.returns = true;
    if (token == "clamp") return i.clamp = true;
    if (token == "sc1" || token == "nt" || token == "slc") return true;
    if (token == "row_mirror" || token == "row_half_mirror") {
      more.dpp.emplace();
      return read_dpp_control(token, "0", *more.dpp);
    }
    return false;
  }
  const string_view value = token.substr(colon + 1);
  const auto number = static_cast<int>(integer_of(value).value_or(0));
  const auto list = [&] {
    return value.starts_with('[') ? integers_in_brackets(value) : std::vector<int>{};
  };
  if (key == "offset" && value.starts_with("swizzle")) {
    // swizzle(QUAD_PERM, 1,0,3,2) and the like: the words stand for a pattern.
    const auto parts = tokens_of(value.substr(8, value.size() - 9));
    const auto part = [&](std::size_t at) {
      return at < parts.size() ? static_cast<std::uint32_t>(integer_of(parts[at]).value_or(0)) : 0u;
    };
    if (parts[0] == "QUAD_PERM") {
      i.offset = 0x8000u | part(1) | part(2) << 2 | part(3) << 4 | part(4) << 6;
    } else if (parts[0] == "SWAP") {
      i.offset = part(1) << 10 | 31u;
    } else if (parts[0] == "REVERSE") {
      i.offset = (part(1) - 1) << 10 | 31u;
    } else if (parts[0] == "BROADCAST") {
      i.offset = part(2) << 5 | (31u & ~(part(1) - 1));
    } else if (parts[0] == "BITMASK_PERM" && parts.size() > 1 && parts[1].size() == 7) {
      std::uint32_t and_mask = 0;
      std::uint32_t or_mask = 0;
      std::uint32_t xor_mask = 0;
      for (std::size_t at = 0; at < 5;
           ++at) {  // "00p11": a constant, the bit itself, or "i": its inverse
        const char c = parts[1][at + 1];
        const std::uint32_t bit = 16u >> at;
        if (c == '1') or_mask |= bit;
        if (c == 'p' || c == 'i') and_mask |= bit;
        if (c == 'i') xor_mask |= bit;
      }
      i.offset = xor_mask << 10 | or_mask << 5 | and_mask;
    } else {
      unknown = value;
    }
  } else if (key == "offset" || key == "offset0") {
    i.offset = static_cast<std::uint32_t>(number);
  } else if (key == "offset1") {
    i.offset1 = static_cast<std::uint32_t>(number);
  } else if (key == "op_sel") {
    more.op_sel = list();
  } else if (key == "op_sel_hi") {
    more.op_sel_hi = list();
  } else if (key == "neg_lo") {
    more.neg_lo = list();
  } else if (key == "neg_hi") {
    more.neg_hi = list();
  } else if (key == "mul") {
    i.output_scale = number == 2 ? 1 : 2;
  } else if (key == "div") {
    i.output_scale = 3;
  } else if (key == "row_mask") {
    more.row_mask = number;
  } else if (key == "bank_mask") {
    more.bank_mask = number;
  } else if (key == "bound_ctrl") {
    more.zero_outside =
        true;  // LLVM prints 0 or 1 for the same bit, and nothing where it is not set
  } else if (key == "dst_sel") {
    i.destination_select = static_cast<std::uint8_t>(sdwa_select(value));
  } else if (key == "dst_unused") {
    i.destination_unused = value == "UNUSED_PRESERVE" ? 2 : value == "UNUSED_SEXT" ? 1 : 0;
  } else if (key == "src0_sel") {
    more.select[0] = sdwa_select(value);
  } else if (key == "src1_sel") {
    more.select[1] = sdwa_select(value);
  } else {
    DppLanes lanes;
    if (read_dpp_control(key, value, lanes)) {
      more.dpp = lanes;
    } else {
      unknown = token;
    }
  }
  return true;
}

// "hwreg(HW_REG_MODE, 4, 2)": register, bit offset, bits.
std::optional<std::uint32_t> hardware_register(string_view token) {
  if (!token.starts_with("hwreg(")) return std::nullopt;
  const auto parts = tokens_of(token.substr(6, token.size() - 7));
  std::uint32_t number = 0;
  if (parts[0] == "HW_REG_MODE") {
    number = 1;
  } else if (parts[0] == "HW_REG_HW_ID") {
    number = 4;
  } else if (parts[0] == "HW_REG_XCC_ID") {
    number = 20;
  } else {
    number = static_cast<std::uint32_t>(integer_of(parts[0]).value_or(255));
  }
  const auto part = [&](std::size_t at, std::uint32_t otherwise) {
    return at < parts.size() ? static_cast<std::uint32_t>(integer_of(parts[at]).value_or(otherwise))
                             : otherwise;
  };
  return number | part(1, 0) << 8 | part(2, 32) << 16;
}

std::uint8_t bits_of_list(const std::vector<int>& list, std::size_t limit) {
  std::uint8_t bits = 0;
  for (std::size_t at = 0; at < list.size() && at < limit; ++at) {
    if (list[at] != 0) bits = static_cast<std::uint8_t>(bits | 1u << at);
  }
  return bits;
}

void unknown_instruction(Wave& wave, const Instruction&) {
  wave.fail(FaultKind::kUnknownInstruction, "");  // the launch names it
}

// Branches count dwords from the next instruction, without a sign.
bool names_branch(string_view mnemonic) {
  return mnemonic == "s_branch" || mnemonic.starts_with("s_cbranch_") || mnemonic == "s_call_b64";
}

}  // namespace

bool is_branch(string_view text) {
  return names_branch(text.substr(0, text.find_first_of(" \t")));
}

std::uint64_t branch_target(const Instruction& branch) {
  const auto dwords = static_cast<std::int16_t>(branch.sources[0].constant);
  return branch.next + static_cast<std::uint64_t>(std::int64_t{4} * dwords);
}

std::optional<DecodedInstruction> decode_instruction(string_view line, std::deque<DppLanes>& dpp) {
  const auto comment = line.find("// ");
  if (!line.starts_with('\t') || comment == string_view::npos) return std::nullopt;
  DecodedInstruction result;
  Instruction& i = result.instruction;
  string_view text = line.substr(1, comment - 1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  result.text = string(text);

  // "000000001900: 68000200 00001234 <label>"
  const auto encoding = tokens_of(line.substr(comment + 3));
  if (encoding.empty() || !encoding[0].ends_with(':')) return std::nullopt;
  i.address = static_cast<std::uint64_t>(
      integer_of(string("0x").append(encoding[0].substr(0, encoding[0].size() - 1))).value_or(0));
  std::size_t dwords = 0;
  while (dwords + 1 < encoding.size() && encoding[dwords + 1].size() == 8 &&
         encoding[dwords + 1][0] != '<')
    ++dwords;
  i.next = i.address + 4 * dwords;
  i.run = unknown_instruction;

  const auto blank = text.find_first_of(" \t");
  string name(text.substr(0, blank));
  bool sdwa = false;
  for (const string_view suffix : {"_e32", "_e64_dpp", "_e64", "_dpp", "_sdwa"}) {
    if (!name.ends_with(suffix)) continue;
    name.resize(name.size() - suffix.size());
    sdwa = suffix == "_sdwa";
    break;
  }
  const auto tokens =
      blank == string_view::npos ? std::vector<string_view>{} : tokens_of(text.substr(blank));

  Modifiers more;
  std::vector<string_view> operands;
  string unknown;
  for (const string_view token : tokens) {
    if (const auto reg = hardware_register(token)) {
      i.hwreg = *reg;
    } else if (!read_modifier(token, i, more, unknown)) {
      operands.push_back(token);
    }
  }

  const InstructionTable& table = instruction_table();
  auto entry = table.end();
  if (i.clamp) entry = table.find(name + " clamp");
  const bool own_clamp = entry != table.end();
  if (i.to_lds) entry = table.find(name + " lds");
  if (entry == table.end() && !i.to_lds) entry = table.find(name);
  if (entry == table.end()) {
    result.unknown = i.to_lds ? name + " lds" : name;
    return result;
  }
  const Semantics& semantics = entry->second;
  if (semantics.ignores_operands) {
    i.run = semantics.run;
    return result;
  }
  if (i.clamp && !own_clamp && semantics.rounding == RoundingClass::kNone &&
      name.find("_f16") == string::npos) {
    unknown = "clamp";
  }

  const auto destinations =
      static_cast<std::size_t>(semantics.destinations + (semantics.atomic && i.returns ? 1 : 0));
  for (std::size_t at = 0; at < operands.size() && unknown.empty(); ++at) {
    const bool is_destination = at < destinations;
    const std::size_t source = at - destinations;
    if (!is_destination && source >= i.sources.size()) {
      unknown = operands[at];
      break;
    }
    Operand& operand = is_destination ? i.destinations[at] : i.sources[source];
    if (!read_operand(operands[at], is_destination ? ConstantForm::k32 : semantics.forms[source],
                      operand)) {
      unknown = operands[at];
    }
  }

  i.rounding = semantics.rounding;
  i.writes_exec = semantics.writes_exec;
  const std::size_t sources = operands.size() - std::min(operands.size(), destinations);
  i.op_sel = bits_of_list(more.op_sel, sources);
  if (more.op_sel.size() > sources && more.op_sel.back() != 0)
    i.op_sel = static_cast<std::uint8_t>(i.op_sel | 8u);
  // Packed instructions read the high halves for the high result unless they say otherwise.
  const bool is_packed = name.starts_with("v_pk_");
  i.op_sel_hi = more.op_sel_hi.empty() ? static_cast<std::uint8_t>(is_packed ? 7 : 0)
                                       : bits_of_list(more.op_sel_hi, 3);
  i.neg_lo = bits_of_list(more.neg_lo, 3);
  i.neg_hi = bits_of_list(more.neg_hi, 3);
  if (sdwa) {
    i.sources[0].select = static_cast<std::uint8_t>(more.select[0]);
    i.sources[1].select = static_cast<std::uint8_t>(more.select[1]);
  } else {
    i.destination_select = 6;
  }
  if (more.dpp) {
    more.dpp->enabled = lanes_of_masks(more.row_mask, more.bank_mask);
    more.dpp->zero_outside = more.zero_outside;
    dpp.push_back(*more.dpp);
    i.dpp = &dpp.back();
  }
  if (unknown.empty()) {
    i.run = semantics.run;
  } else {
    result.unknown = name + " with " + unknown;
  }
  return result;
}

}  // namespace hone::emulator
