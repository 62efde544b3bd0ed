// Equality of loaded code: what is executed counts, names and paths do not.
#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "provider/artifact.h"

namespace hone::provider {
namespace {

struct Section {
  std::uint64_t flags;
  std::string_view bytes;
};

// The allocated sections with content of a 64-bit ELF file; nothing when `elf` is not one.
std::optional<std::vector<Section>> loaded_sections(std::string_view elf) {
  Elf64_Ehdr header;
  if (elf.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, elf.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  std::vector<Section> sections;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const std::uint64_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    if (at > elf.size() || elf.size() - at < sizeof section) return std::nullopt;
    std::memcpy(&section, elf.data() + at, sizeof section);
    const bool loaded = section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_ALLOC) != 0;
    if (!loaded) continue;
    if (section.sh_offset > elf.size() || elf.size() - section.sh_offset < section.sh_size)
      return std::nullopt;
    sections.push_back({section.sh_flags, elf.substr(section.sh_offset, section.sh_size)});
  }
  return sections;
}

// IREE keeps the exports' names and the source files' at the end of the read-only data, as
// zero-terminated strings that no kernel reads: everything from the export's name on.
std::string_view without_names(std::string_view read_only_data, std::string_view entry) {
  return entry.empty() ? read_only_data : read_only_data.substr(0, read_only_data.find(entry));
}

}  // namespace

std::string identity(const Artifact& artifact) {
  std::string executed;
  if (const auto sections = loaded_sections(artifact.code)) {
    for (const Section& section : *sections) {
      // Writable data holds the tables that point at names; they follow from the rest.
      if ((section.flags & SHF_WRITE) != 0) continue;
      executed += (section.flags & SHF_EXECINSTR) != 0
                      ? section.bytes
                      : without_names(section.bytes, artifact.launch.entry);
    }
  } else {
    executed = artifact.code;
  }
  const Launch& launch = artifact.launch;
  executed += fmt::format("|{}|{}|{}|{}|{}", artifact.format, fmt::join(launch.grid, ","),
                          fmt::join(launch.block, ","), launch.shared_bytes,
                          fmt::join(launch.constants, ","));
  return content_hash(executed);
}

}  // namespace hone::provider
