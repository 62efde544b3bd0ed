// The words of a disassembly: tokens, numbers and operands. Used by the decoder; not for others.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "emulator/instruction.h"
#include "emulator/instruction_table.h"

namespace hone::emulator {

// Tokens at commas and blanks outside of brackets.
std::vector<std::string_view> tokens_of(std::string_view text);

// A decimal or hexadecimal integer, with a sign; nullopt for anything else.
std::optional<std::int64_t> integer_of(std::string_view text);

// The numbers of "[1,0,3,2]".
std::vector<int> integers_in_brackets(std::string_view text);

// Reads a register, a constant or "off" with its signs. Returns false if the text means nothing
// here.
bool read_operand(std::string_view text, ConstantForm form, Operand& operand);

}  // namespace hone::emulator
