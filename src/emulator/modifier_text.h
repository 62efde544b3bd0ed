// The modifiers of a disassembly: offsets, DPP, SDWA, op_sel and the like. Used by the decoder; not
// for others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/instruction.h"

namespace hone::emulator {

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
  int select[2] = {6, 6};  // SDWA, as Operand::select
};

// Reads a modifier into the instruction or `more`. Returns false if the token is none; `unknown` is
// set for one that has no meaning here.
bool read_modifier(std::string_view token, Instruction& i, Modifiers& more, std::string& unknown);

// Lanes that DPP's masks let through.
std::uint64_t lanes_of_masks(int row_mask, int bank_mask);

// "hwreg(HW_REG_MODE, 4, 2)" as Instruction::hwreg; nullopt for other tokens.
std::optional<std::uint32_t> hardware_register(std::string_view token);

}  // namespace hone::emulator
