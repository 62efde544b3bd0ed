#include "emulator/decode.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "emulator/instruction_table.h"
#include "emulator/modifier_text.h"
#include "emulator/operand_text.h"
#include "emulator/wave.h"

namespace hone::emulator {
namespace {

using std::string;
using std::string_view;

std::uint8_t bits_of_list(const std::vector<int>& list, std::size_t limit) {
  std::uint8_t bits = 0;
  for (std::size_t at = 0; at < std::min({list.size(), limit, std::size_t{3}}); ++at) {
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
