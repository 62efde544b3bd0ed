// Reads the sections of a 64-bit ELF file. The file comes from a compiler: every offset is checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hone::provider {

struct ElfSection {
  std::uint32_t type = 0;     // SHT_PROGBITS, SHT_NOTE, ...
  std::uint64_t flags = 0;    // SHF_ALLOC | ...
  std::uint64_t address = 0;  // where it is loaded
  std::uint32_t link = 0;     // position of a section that it refers to
  std::string_view bytes;     // points into the file; empty for one without content
  std::string_view name;      // points into the file; empty where it cannot be read
};

struct ElfFile {
  std::uint16_t machine = 0;  // EM_X86_64, EM_AMDGPU
  std::vector<ElfSection> sections;
};

// Returns nothing if `elf` is no 64-bit ELF file or a section exceeds it.
std::optional<ElfFile> read_elf(std::string_view elf);

// Returns the zero-terminated text at `offset` of a string table; empty if it exceeds the table.
std::string_view text_at(std::string_view table, std::uint64_t offset);

}  // namespace hone::provider
