// The ELF file of a code object in memory: its symbols and relocated segments. Used by
// code_object.cc; not for others. Source: LLVM AMDGPUUsage, section "Code Object".
#pragma once

#include <elf.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/elf.h"
#include "base/result.h"

namespace hone::emulator {

inline std::string_view characters(std::span<const std::byte> file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

// Whether the header is one of an ELF file for gfx942.
bool is_gfx942_header(std::string_view file);

// Reads the file. Input errors: not a 64-bit ELF file for gfx942, or cut off.
Result<ElfFile> read_gfx942(std::string_view file);

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
