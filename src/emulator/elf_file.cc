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
constexpr Elf64_Word kMetadataNote = 32;   // NT_AMDGPU_METADATA
constexpr std::uint64_t kLargestImage = std::uint64_t{1} << 28;

std::string_view string_at(std::span<const std::byte> table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto* text = reinterpret_cast<const char*>(table.data()) + offset;
  return {text, strnlen(text, static_cast<std::size_t>(table.size() - offset))};
}

Status relocate(const ElfFile& elf, std::span<std::byte> image) {
  const auto base = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(image.data()));
  for (const Elf64_Shdr& section : elf.sections) {
    if (section.sh_type != SHT_RELA || (section.sh_flags & SHF_ALLOC) == 0) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= section.sh_size;
         at += sizeof(Elf64_Rela)) {
      const auto relocation = structure_at<Elf64_Rela>(elf.bytes, section.sh_offset + at);
      if (!relocation || !part_of(image, relocation->r_offset, 8)) {
        return input_error("the code object has a relocation outside of it");
      }
      std::uint64_t value = base + static_cast<std::uint64_t>(relocation->r_addend);
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation->r_info));
      if (type == kAbsolute64 && section.sh_link < elf.sections.size()) {
        const std::uint64_t symbols = elf.sections[section.sh_link].sh_offset;
        const auto symbol = structure_at<Elf64_Sym>(
            elf.bytes, symbols + ELF64_R_SYM(relocation->r_info) * sizeof(Elf64_Sym));
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

Result<ElfFile> read_elf(std::span<const std::byte> file) {
  const auto header = structure_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64) {
    return input_error("the code object is no 64-bit ELF file");
  }
  if (header->e_machine != kAmdGpu) return input_error("the code object is not for AMD GPUs");
  if ((header->e_flags & kMachineMask) != kGfx942) {
    return input_error("the code object is for another target than gfx942 (machine {:#x})",
                       header->e_flags & kMachineMask);
  }
  ElfFile elf{file, {}, {}};
  for (std::uint64_t at = 0; at < header->e_phnum; ++at) {
    const auto segment = structure_at<Elf64_Phdr>(file, header->e_phoff + at * sizeof(Elf64_Phdr));
    if (!segment) return input_error("the code object is cut off in its program headers");
    elf.segments.push_back(*segment);
  }
  for (std::uint64_t at = 0; at < header->e_shnum; ++at) {
    const auto section = structure_at<Elf64_Shdr>(file, header->e_shoff + at * sizeof(Elf64_Shdr));
    if (!section) return input_error("the code object is cut off in its section headers");
    elf.sections.push_back(*section);
  }
  return elf;
}

bool is_gfx942_header(std::span<const std::byte> file) {
  const auto header = structure_at<Elf64_Ehdr>(file, 0);
  return header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
         header->e_machine == kAmdGpu && (header->e_flags & kMachineMask) == kGfx942;
}

Result<std::span<const std::byte>> metadata_note(const ElfFile& elf) {
  for (const Elf64_Phdr& segment : elf.segments) {
    if (segment.p_type != PT_NOTE) continue;
    std::uint64_t at = segment.p_offset;
    const std::uint64_t end = segment.p_offset + segment.p_filesz;
    while (at + sizeof(Elf64_Nhdr) <= end) {
      const auto note = structure_at<Elf64_Nhdr>(elf.bytes, at);
      if (!note) break;
      const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
      const std::uint64_t words = at + sizeof(Elf64_Nhdr) + padded(note->n_namesz);
      const auto description = part_of(elf.bytes, words, note->n_descsz);
      if (note->n_type == kMetadataNote && description) return *description;
      at = words + padded(note->n_descsz);
    }
  }
  return input_error("the code object has no AMDGPU metadata");
}

std::map<std::string, Elf64_Sym, std::less<>> symbols_of(const ElfFile& elf) {
  std::map<std::string, Elf64_Sym, std::less<>> symbols;
  for (const Elf64_Shdr& section : elf.sections) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= elf.sections.size()) continue;
    const Elf64_Shdr& strings = elf.sections[section.sh_link];
    const auto names = part_of(elf.bytes, strings.sh_offset, strings.sh_size);
    if (!names) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = structure_at<Elf64_Sym>(elf.bytes, section.sh_offset + at);
      if (!symbol) break;
      const std::string_view name = string_at(*names, symbol->st_name);
      if (!name.empty()) symbols.emplace(name, *symbol);
    }
  }
  return symbols;
}

Result<LoadedImage> load_image(const ElfFile& elf) {
  std::uint64_t end = 0;
  for (const Elf64_Phdr& segment : elf.segments) {
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_memsz > kLargestImage || segment.p_vaddr > kLargestImage - segment.p_memsz) {
      return input_error("the code object has a segment beyond {} bytes", kLargestImage);
    }
    end = std::max(end, segment.p_vaddr + segment.p_memsz);
  }
  if (end == 0) return input_error("the code object has no segments to load");
  const LoadedImage image{page_aligned(static_cast<std::size_t>(end)),
                          static_cast<std::size_t>(end)};
  for (const Elf64_Phdr& segment : elf.segments) {
    if (segment.p_type != PT_LOAD) continue;
    const auto content = part_of(elf.bytes, segment.p_offset, segment.p_filesz);
    if (!content || segment.p_filesz > segment.p_memsz)
      return input_error("the code object is cut off in a segment");
    std::memcpy(image.bytes.get() + segment.p_vaddr, content->data(), content->size());
  }
  HONE_TRY(relocate(elf, {image.bytes.get(), image.size}));
  return image;
}

}  // namespace hone::emulator
