// A program: the instructions of a code object, decoded once from the text of the disassembler.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "emulator/instruction.h"

namespace hone::emulator {

// Immutable once made; threads may share it.
class Program {
 public:
  // Decodes lines as `llvm-objdump-19 -d` prints them: a tab, the instruction, "//", its address
  // and its encoding. Instructions that the table lacks decode to one that faults when it is
  // executed. A failure if no line is an instruction.
  static Result<Program> decode(std::string_view disassembly);

  Program(Program&&) noexcept = default;
  Program& operator=(Program&&) noexcept = default;

  const std::vector<Instruction>& instructions() const { return instructions_; }

  // The index of the instruction at an address of the code object; nullopt if none begins there.
  std::optional<std::uint32_t> index_at(std::uint64_t address) const;

  // The text of an instruction, without address and encoding.
  std::string_view text(std::uint32_t index) const { return texts_[index]; }

  // Mnemonics or forms that the table lacks, with how often they occur, in the order of their
  // names.
  const std::map<std::string, int>& unknown() const { return unknown_; }

 private:
  Program() = default;

  std::vector<Instruction> instructions_;
  std::vector<std::string> texts_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_of_address_;
  std::deque<DppLanes> dpp_;  // what instructions point to
  std::map<std::string, int> unknown_;
};

}  // namespace hone::emulator
