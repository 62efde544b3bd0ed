#include "emulator/program.h"

#include <utility>

#include "emulator/decode.h"

namespace hone::emulator {

Result<Program> Program::decode(std::string_view disassembly) {
  Program program;
  while (!disassembly.empty()) {
    const auto end = disassembly.find('\n');
    std::optional<DecodedInstruction> decoded =
        decode_instruction(disassembly.substr(0, end), program.dpp_);
    disassembly.remove_prefix(end == std::string_view::npos ? disassembly.size() : end + 1);
    if (!decoded) continue;
    const auto index = static_cast<std::uint32_t>(program.instructions_.size());
    program.index_of_address_[decoded->instruction.address] = index;
    program.instructions_.push_back(decoded->instruction);
    program.texts_.push_back(std::move(decoded->text));
    if (!decoded->unknown.empty()) ++program.unknown_[decoded->unknown];
  }
  if (program.instructions_.empty()) return failure("the disassembly has no instructions");
  for (std::size_t index = 0; index < program.instructions_.size(); ++index) {
    if (!is_branch(program.texts_[index])) continue;
    Instruction& branch = program.instructions_[index];
    // A target outside the code is one past the end, where the launch faults.
    branch.target = program.index_at(branch_target(branch))
                        .value_or(static_cast<std::uint32_t>(program.instructions_.size()));
  }
  return program;
}

std::optional<std::uint32_t> Program::index_at(std::uint64_t address) const {
  const auto found = index_of_address_.find(address);
  if (found == index_of_address_.end()) return std::nullopt;
  return found->second;
}

}  // namespace hone::emulator
