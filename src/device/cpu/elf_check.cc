#include "device/cpu/elf_check.h"

#include <elf.h>

#include <cstdint>
#include <cstring>

namespace hone::device::cpu {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr Elf64_Half kMachine = EM_RISCV;
#else
#error "no ELF machine number for this architecture"
#endif

bool within(std::uint64_t offset, std::uint64_t size, std::size_t total) {
  return offset <= total && size <= total - offset;
}

}  // namespace

Status check_shared_object(std::string_view code) {
  Elf64_Ehdr header;
  if (code.size() < sizeof(header) || std::memcmp(code.data(), ELFMAG, SELFMAG) != 0)
    return failure("the code ({} bytes) is not an ELF file", code.size());
  std::memcpy(&header, code.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_DYN)
    return failure("the code is an ELF file, but no 64-bit little-endian shared object");
  if (header.e_machine != kMachine)
    return failure("the code is for another processor (ELF machine {}, this one is {})",
                   header.e_machine, kMachine);
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !within(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), code.size()))
    return failure("the ELF file is damaged: its program headers lie outside its {} bytes",
                   code.size());
  for (Elf64_Half i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, code.data() + header.e_phoff + std::size_t{i} * sizeof(segment),
                sizeof(segment));
    if (segment.p_type == PT_LOAD && !within(segment.p_offset, segment.p_filesz, code.size()))
      return failure("the ELF file is cut off: segment {} ends behind its {} bytes", i,
                     code.size());
  }
  return {};
}

}  // namespace hone::device::cpu
