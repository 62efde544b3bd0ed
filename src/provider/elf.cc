#include "provider/elf.h"

#include <elf.h>

#include <cstring>

namespace hone::provider {

std::optional<ElfFile> read_elf(std::string_view elf) {
  Elf64_Ehdr header;
  if (elf.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, elf.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  ElfFile file{header.e_machine, {}};
  std::vector<std::uint32_t> names;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const std::uint64_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    if (at < header.e_shoff || at > elf.size() || elf.size() - at < sizeof section)
      return std::nullopt;
    std::memcpy(&section, elf.data() + at, sizeof section);
    ElfSection read{section.sh_type, section.sh_flags, section.sh_addr, section.sh_link, {}, {}};
    names.push_back(section.sh_name);
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL) {
      if (section.sh_offset > elf.size() || elf.size() - section.sh_offset < section.sh_size)
        return std::nullopt;
      read.bytes = elf.substr(section.sh_offset, section.sh_size);
    }
    file.sections.push_back(read);
  }
  if (header.e_shstrndx < file.sections.size())
    for (std::size_t i = 0; i < names.size(); ++i)
      file.sections[i].name = text_at(file.sections[header.e_shstrndx].bytes, names[i]);
  return file;
}

std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  const auto end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace hone::provider
