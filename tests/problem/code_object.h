// The header of a GPU's code object; what follows it does not matter to who reads its target.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace hone::test {

inline std::string code_object(std::uint16_t machine, unsigned char abi, std::uint32_t flags) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = abi;
  header.e_machine = machine;
  header.e_flags = flags;
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

}  // namespace hone::test
