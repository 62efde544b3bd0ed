#include "emulator/elf_file.h"

#include <algorithm>
#include <new>
#include <string_view>

namespace hone::emulator {
namespace {

constexpr Elf64_Half kAmdGpu = 224;        // EM_AMDGPU
constexpr Elf64_Word kMachineMask = 0xff;  // EF_AMDGPU_MACH
constexpr Elf64_Word kGfx942 = 0x4c;       // EF_AMDGPU_MACH_AMDGCN_GFX942
constexpr std::uint32_t kRelative64 = 13;  // R_AMDGPU_RELATIVE64
constexpr std::uint32_t kAbsolute64 = 3;   // R_AMDGPU_ABS64
constexpr std::uint64_t kLargestImage = std::uint64_t{1} << 28;

Status relocate(const ElfFile& elf, std::span<std::byte> image) {
  const auto base = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(image.data()));
  for (const ElfSection& section : elf.sections) {
    if (section.type != SHT_RELA || (section.flags & SHF_ALLOC) == 0) continue;
    for (std::uint64_t at = 0; const auto relocation = structure_at<Elf64_Rela>(section.bytes, at);
         at += sizeof(Elf64_Rela)) {
      if (!structure_at<std::uint64_t>(characters(image), relocation->r_offset))
        return input_error("the code object has a relocation outside of it");
      std::uint64_t value = base + static_cast<std::uint64_t>(relocation->r_addend);
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation->r_info));
      if (type == kAbsolute64 && section.link < elf.sections.size()) {
        const auto symbol = structure_at<Elf64_Sym>(
            elf.sections[section.link].bytes, ELF64_R_SYM(relocation->r_info) * sizeof(Elf64_Sym));
        if (!symbol) return input_error("the code object has a relocation to no symbol");
        value += symbol->st_value;
      } else if (type != kRelative64) {
        return input_error("the code object has a relocation of type {}, which hone does not know",
                           type);
      }
      std::memcpy(image.data() + relocation->r_offset, &value, sizeof value);
    }
  }
  return {};
}

// Zeros.
std::shared_ptr<std::byte> page_aligned(std::size_t size) {
  constexpr std::align_val_t kPage{4096};
  auto* bytes = static_cast<std::byte*>(::operator new(size, kPage));
  std::memset(bytes, 0, size);
  return {bytes, [](std::byte* given) { ::operator delete(given, kPage); }};
}

}  // namespace

bool is_gfx942_header(std::string_view file) {
  const auto header = structure_at<Elf64_Ehdr>(file, 0);
  return header && file.starts_with(ELFMAG) && header->e_machine == kAmdGpu &&
         (header->e_flags & kMachineMask) == kGfx942;
}

Result<ElfFile> read_gfx942(std::string_view file) {
  auto elf = read_elf(file);
  if (!elf)
    return input_error("the code object is {}",
                       file.starts_with(ELFMAG) ? "cut off" : "no 64-bit ELF file");
  if (elf->machine != kAmdGpu) return input_error("the code object is not for AMD GPUs");
  if ((elf->flags & kMachineMask) != kGfx942)
    return input_error("the code object is for another target than gfx942 (machine {:#x})",
                       elf->flags & kMachineMask);
  return *std::move(elf);
}

std::map<std::string, Elf64_Sym, std::less<>> symbols_of(const ElfFile& elf) {
  std::map<std::string, Elf64_Sym, std::less<>> symbols;
  for (const ElfSection& section : elf.sections) {
    if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) continue;
    if (section.link >= elf.sections.size()) continue;
    for (std::uint64_t at = 0; const auto symbol = structure_at<Elf64_Sym>(section.bytes, at);
         at += sizeof(Elf64_Sym)) {
      const std::string_view name = text_at(elf.sections[section.link].bytes, symbol->st_name);
      if (!name.empty()) symbols.emplace(name, *symbol);
    }
  }
  return symbols;
}

Result<LoadedImage> load_image(const ElfFile& elf) {
  std::uint64_t end = 0;
  for (const ElfSegment& segment : elf.segments) {
    if (segment.type != PT_LOAD) continue;
    if (segment.memory_bytes > kLargestImage ||
        segment.address > kLargestImage - segment.memory_bytes)
      return input_error("the code object has a segment beyond {} bytes", kLargestImage);
    if (segment.bytes.size() > segment.memory_bytes)
      return input_error("the code object has a segment with more bytes than memory");
    end = std::max(end, segment.address + segment.memory_bytes);
  }
  if (end == 0) return input_error("the code object has no segments to load");
  const LoadedImage image{page_aligned(static_cast<std::size_t>(end)),
                          static_cast<std::size_t>(end)};
  for (const ElfSegment& segment : elf.segments)
    if (segment.type == PT_LOAD)
      std::memcpy(image.bytes.get() + segment.address, segment.bytes.data(), segment.bytes.size());
  HONE_TRY(relocate(elf, {image.bytes.get(), image.size}));
  return image;
}

}  // namespace hone::emulator
