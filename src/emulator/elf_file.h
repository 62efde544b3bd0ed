// The ELF file of a code object: its segments in memory, symbols, relocations and the metadata
// note. Used by code_object.cc; not for others. Source: LLVM AMDGPUUsage, section "Code Object".
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::emulator {

// A structure at an offset of the file; nullopt beyond its end.
template <class T>
std::optional<T> structure_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

inline std::optional<std::span<const std::byte>> part_of(std::span<const std::byte> bytes,
                                                         std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

struct ElfFile {
  std::span<const std::byte> bytes;
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Shdr> sections;
};

// Reads the headers. Input errors: not a 64-bit ELF file for gfx942, or cut off.
Result<ElfFile> read_elf(std::span<const std::byte> file);

// Whether the header is one of an ELF file for gfx942.
bool is_gfx942_header(std::span<const std::byte> file);

// The msgpack text of the metadata note. An input error if there is none.
Result<std::span<const std::byte>> metadata_note(const ElfFile& elf);

// Every symbol with a name, from both tables.
std::map<std::string, Elf64_Sym, std::less<>> symbols_of(const ElfFile& elf);

struct LoadedImage {
  std::shared_ptr<std::byte>
      bytes;  // at a page's begin: code may count on the alignment of its segments
  std::size_t size = 0;
};

// The segments at their addresses, with relocations to where the image is. Input errors: segments
// or relocations that lie outside, and kinds of relocations that are not known.
Result<LoadedImage> load_image(const ElfFile& elf);

}  // namespace hone::emulator
