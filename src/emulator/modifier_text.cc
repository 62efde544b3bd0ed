#include "emulator/modifier_text.h"

#include <algorithm>

#include "emulator/operand_text.h"

namespace hone::emulator {
namespace {

using std::string;
using std::string_view;

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
    if (std::ranges::any_of(order, [](int lane) { return lane < 0 || lane > 3; })) return false;
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

int sdwa_select(string_view text) {
  constexpr string_view kNames[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                    "WORD_0", "WORD_1", "DWORD"};
  for (int i = 0; i < 7; ++i) {
    if (kNames[i] == text) return i;
  }
  return 6;
}

}  // namespace

std::uint64_t lanes_of_masks(int row_mask, int bank_mask) {
  std::uint64_t enabled = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const bool on = (row_mask >> (lane / 16) & 1) != 0 && (bank_mask >> (lane / 4 % 4) & 1) != 0;
    enabled |= std::uint64_t{on} << lane;
  }
  return enabled;
}

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
  if (key == "offset" && value.starts_with("swizzle(") && value.ends_with(')')) {
    // swizzle(QUAD_PERM, 1,0,3,2) and the like: the words stand for a pattern.
    const auto parts = tokens_of(value.substr(8, value.size() - 9));
    const auto part = [&](std::size_t at) {
      return at < parts.size() ? static_cast<std::uint32_t>(integer_of(parts[at]).value_or(0)) : 0u;
    };
    if (parts.empty()) {
      unknown = value;
    } else if (parts[0] == "QUAD_PERM") {
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

std::optional<std::uint32_t> hardware_register(string_view token) {
  if (!token.starts_with("hwreg(") || !token.ends_with(')')) return std::nullopt;
  const auto parts = tokens_of(token.substr(6, token.size() - 7));
  std::uint32_t number = 0;
  if (parts.empty()) return std::nullopt;
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

}  // namespace hone::emulator
