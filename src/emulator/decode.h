// Decoding: a line of a disassembly as a typed instruction.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/instruction.h"

namespace hone::emulator {

struct DecodedInstruction {
  Instruction instruction;
  std::string text;     // without address and encoding
  std::string unknown;  // mnemonic or form that the table lacks; empty: it is known
};

// Decodes "\tv_add_u32_e32 v0, s0, v1   // 000000001900: 68000200". nullopt for lines that are no
// instructions. The branch target stays 0. DPP tables go to `dpp`.
std::optional<DecodedInstruction> decode_instruction(std::string_view line,
                                                     std::deque<DppLanes>& dpp);

// The address that a branch leads to: its text says the distance in dwords.
std::uint64_t branch_target(const Instruction& branch);
bool is_branch(std::string_view text);

}  // namespace hone::emulator
