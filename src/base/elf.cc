#include "base/elf.h"

#include <elf.h>

namespace hone {
namespace {

std::optional<std::string_view> part_of(std::string_view file, std::uint64_t offset,
                                        std::uint64_t size) {
  if (offset > file.size() || file.size() - offset < size) return std::nullopt;
  return file.substr(offset, size);
}

// The table of `count` structures at `offset`.
template <class T>
std::optional<std::vector<T>> table_at(std::string_view file, std::uint64_t offset,
                                       std::uint64_t count) {
  const auto bytes = part_of(file, offset, count * sizeof(T));
  if (!bytes) return std::nullopt;
  std::vector<T> table(count);
  if (count > 0) std::memcpy(table.data(), bytes->data(), bytes->size());
  return table;
}

// The first note of `type` by AMDGPU among `notes`.
std::optional<std::string_view> note_in(std::string_view notes, std::uint32_t type) {
  constexpr std::string_view kOwner("AMDGPU\0", 7);
  const auto padded = [](std::uint32_t size) { return (std::size_t{size} + 3) & ~std::size_t{3}; };
  while (const auto header = structure_at<Elf64_Nhdr>(notes, 0)) {
    notes.remove_prefix(sizeof(Elf64_Nhdr));
    const std::size_t owner = padded(header->n_namesz), content = padded(header->n_descsz);
    if (owner > notes.size() || content > notes.size() - owner) return std::nullopt;
    if (header->n_type == type && notes.substr(0, header->n_namesz) == kOwner)
      return notes.substr(owner, header->n_descsz);
    notes.remove_prefix(owner + content);
  }
  return std::nullopt;
}

}  // namespace

std::optional<ElfFile> read_elf(std::string_view elf) {
  const auto header = structure_at<Elf64_Ehdr>(elf, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr) ||
      (header->e_phnum > 0 && header->e_phentsize != sizeof(Elf64_Phdr)))
    return std::nullopt;
  const auto sections = table_at<Elf64_Shdr>(elf, header->e_shoff, header->e_shnum);
  const auto segments = table_at<Elf64_Phdr>(elf, header->e_phoff, header->e_phnum);
  if (!sections || !segments) return std::nullopt;
  ElfFile file{header->e_machine, header->e_flags, {}, {}};
  for (const Elf64_Shdr& section : *sections) {
    ElfSection read{section.sh_type, section.sh_flags, section.sh_addr, section.sh_link, {}, {}};
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL) {
      const auto bytes = part_of(elf, section.sh_offset, section.sh_size);
      if (!bytes) return std::nullopt;
      read.bytes = *bytes;
    }
    file.sections.push_back(read);
  }
  if (header->e_shstrndx < file.sections.size())
    for (std::size_t i = 0; i < file.sections.size(); ++i)
      file.sections[i].name =
          text_at(file.sections[header->e_shstrndx].bytes, (*sections)[i].sh_name);
  for (const Elf64_Phdr& segment : *segments) {
    const auto bytes = part_of(elf, segment.p_offset, segment.p_filesz);
    if (!bytes) return std::nullopt;
    file.segments.push_back({segment.p_type, segment.p_vaddr, segment.p_memsz, *bytes});
  }
  return file;
}

std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  const auto end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

std::optional<std::string_view> amdgpu_note(const ElfFile& elf, std::uint32_t type) {
  for (const ElfSection& section : elf.sections)
    if (section.type == SHT_NOTE)
      if (const auto note = note_in(section.bytes, type)) return note;
  return std::nullopt;
}

}  // namespace hone
