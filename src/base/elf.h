// Reads the sections and segments of a 64-bit ELF file. The file comes from a compiler: every
// offset is checked.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace hone {

struct ElfSection {
  std::uint32_t type = 0;     // SHT_PROGBITS, SHT_NOTE, ...
  std::uint64_t flags = 0;    // SHF_ALLOC | ...
  std::uint64_t address = 0;  // where it is loaded
  std::uint32_t link = 0;     // position of a section that it refers to
  std::string_view bytes;     // points into the file; empty for one without content
  std::string_view name;      // points into the file; empty where it cannot be read
};

struct ElfSegment {
  std::uint32_t type = 0;          // PT_LOAD, ...
  std::uint64_t address = 0;       // where it is loaded
  std::uint64_t memory_bytes = 0;  // there; zeros behind `bytes`
  std::string_view bytes;          // points into the file
};

struct ElfFile {
  std::uint16_t machine = 0;  // EM_X86_64, EM_AMDGPU
  std::uint32_t flags = 0;    // of the machine
  std::vector<ElfSection> sections;
  std::vector<ElfSegment> segments;
};

// Returns nothing if `elf` is no 64-bit ELF file or a section or segment exceeds it.
std::optional<ElfFile> read_elf(std::string_view elf);

// Returns the zero-terminated text at `offset` of a string table; empty if it exceeds the table.
std::string_view text_at(std::string_view table, std::uint64_t offset);

// Returns the content of the first note of `type` by AMDGPU; nothing if there is none.
std::optional<std::string_view> amdgpu_note(const ElfFile& elf, std::uint32_t type);

// Returns the structure at an offset of `bytes`; nothing beyond their end.
template <class T>
std::optional<T> structure_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace hone
