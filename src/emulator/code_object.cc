#include "emulator/code_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

namespace hone::emulator {
namespace {

using nlohmann::json;

constexpr Elf64_Half kAmdGpu = 224;              // EM_AMDGPU
constexpr Elf64_Word kMachineMask = 0xff;        // EF_AMDGPU_MACH
constexpr Elf64_Word kGfx942 = 0x4c;             // EF_AMDGPU_MACH_AMDGCN_GFX942
constexpr Elf64_Word kMetadataNote = 32;         // NT_AMDGPU_METADATA
constexpr std::uint32_t kRelative64 = 13;        // R_AMDGPU_RELATIVE64
constexpr std::uint32_t kAbsolute64 = 3;         // R_AMDGPU_ABS64
constexpr std::uint64_t kPreloadPrologue = 256;  // bytes, for firmware that does not preload

// A structure at an offset of the file; nullopt beyond its end.
template <class T>
std::optional<T> structure_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<std::span<const std::byte>> part_of(std::span<const std::byte> bytes,
                                                  std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

std::string_view string_at(std::span<const std::byte> table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto* text = reinterpret_cast<const char*>(table.data()) + offset;
  return {text, strnlen(text, static_cast<std::size_t>(table.size() - offset))};
}

struct ElfFile {
  std::span<const std::byte> bytes;
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Shdr> sections;
};

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

// The metadata note as JSON.
Result<json> read_metadata(const ElfFile& elf) {
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
      if (note->n_type == kMetadataNote && description) {
        const auto* text = reinterpret_cast<const std::uint8_t*>(description->data());
        json metadata = json::from_msgpack(text, text + description->size(), true, false);
        if (metadata.is_discarded()) return input_error("the code object's metadata is no msgpack");
        return metadata;
      }
      at = words + padded(note->n_descsz);
    }
  }
  return input_error("the code object has no AMDGPU metadata");
}

std::uint32_t number(const json& object, const char* key, std::uint32_t otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<std::uint32_t>() : otherwise;
}

// The kernel's descriptor (LLVM AMDGPUUsage, "code object V3 kernel descriptor"), 64 bytes.
Status read_descriptor(std::span<const std::byte> image, std::uint64_t address, Kernel& kernel) {
  const auto descriptor = part_of(image, address, 64);
  if (!descriptor)
    return input_error("the descriptor of kernel {} is outside the code object", kernel.name);
  const auto word = [&](std::uint64_t offset) {
    return *structure_at<std::uint32_t>(*descriptor, offset);
  };
  const auto half = [&](std::uint64_t offset) {
    return *structure_at<std::uint16_t>(*descriptor, offset);
  };
  kernel.local_bytes = word(0);
  kernel.private_bytes = word(4);
  kernel.argument_bytes = std::max(kernel.argument_bytes, word(8));
  kernel.entry = address + *structure_at<std::uint64_t>(*descriptor, 16);
  const std::uint32_t resources1 = word(48);
  const std::uint32_t resources2 = word(52);
  const std::uint32_t resources3 = word(44);
  const std::uint32_t properties = half(56);
  const std::uint32_t preload = half(58);
  // COMPUTE_PGM_RSRC1: float modes in bits 12 to 19, DX10_CLAMP 21, IEEE 23.
  kernel.mode =
      (resources1 >> 12 & 0xff) | (resources1 >> 21 & 1) << 8 | (resources1 >> 23 & 1) << 9;
  const std::uint32_t registers = ((resources1 & 0x3f) + 1) * 8;
  kernel.vector_registers = std::min(((resources3 & 0x3f) + 1) * 4, 256u);
  kernel.accumulator_registers =
      registers > kernel.vector_registers ? registers - kernel.vector_registers : 0;
  kernel.scalar_registers = ((resources1 >> 6 & 0xf) + 1) * 8;
  kernel.user_scalars = resources2 >> 1 & 0x1f;
  for (std::uint32_t axis = 0; axis < 3; ++axis)
    kernel.group_numbers[axis] = (resources2 >> (7 + axis) & 1) != 0;
  if ((properties & 1) != 0 || (properties >> 5 & 1) != 0) {
    return input_error(
        "kernel {} asks for a private segment buffer or flat scratch registers, which gfx942 lacks",
        kernel.name);
  }
  if ((properties >> 10 & 1) != 0)
    return input_error("kernel {} is for waves of 32 lanes, which gfx942 lacks", kernel.name);
  kernel.has_dispatch_pointer = (properties >> 1 & 1) != 0;
  kernel.has_queue_pointer = (properties >> 2 & 1) != 0;
  kernel.has_argument_pointer = (properties >> 3 & 1) != 0;
  kernel.has_dispatch_id = (properties >> 4 & 1) != 0;
  kernel.has_private_size = (properties >> 6 & 1) != 0;
  kernel.preload_dwords = preload & 0x7f;
  kernel.preload_offset = preload >> 7;
  if (kernel.preload_dwords != 0) kernel.entry += kPreloadPrologue;
  return {};
}

Result<std::vector<Kernel>> kernels_of(const json& metadata) {
  std::vector<Kernel> kernels;
  const auto list = metadata.find("amdhsa.kernels");
  if (list == metadata.end() || !list->is_array())
    return input_error("the code object's metadata lists no kernels");
  for (const json& entry : *list) {
    Kernel kernel;
    kernel.name = entry.value(".name", std::string());
    kernel.argument_bytes = number(entry, ".kernarg_segment_size", 0);
    kernel.most_threads = number(entry, ".max_flat_workgroup_size", 1024);
    const auto arguments = entry.find(".args");
    if (arguments != entry.end() && arguments->is_array()) {
      for (const json& argument : *arguments) {
        kernel.arguments.push_back({number(argument, ".offset", 0), number(argument, ".size", 0),
                                    argument.value(".value_kind", std::string())});
      }
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

// Every symbol with a name, from both tables.
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

}  // namespace

const Kernel* CodeObject::kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels_, name, &Kernel::name);
  return found == kernels_.end() ? nullptr : &*found;
}

std::optional<Symbol> CodeObject::variable(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  return found->second;
}

Result<CodeObject> read_code_object(std::span<const std::byte> file) {
  HONE_ASSIGN(const ElfFile elf, read_elf(file));
  HONE_ASSIGN(const json metadata, read_metadata(elf));
  CodeObject object;
  HONE_ASSIGN(object.kernels_, kernels_of(metadata));

  std::uint64_t end = 0;
  for (const Elf64_Phdr& segment : elf.segments) {
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_vaddr + segment.p_memsz);
  }
  constexpr std::uint64_t kLargestImage = std::uint64_t{1} << 32;
  if (end == 0 || end > kLargestImage)
    return input_error("the code object has no segments to load");
  object.image_bytes_ = static_cast<std::size_t>(end);
  object.image_ = std::make_unique<std::byte[]>(object.image_bytes_);
  for (const Elf64_Phdr& segment : elf.segments) {
    if (segment.p_type != PT_LOAD) continue;
    const auto content = part_of(file, segment.p_offset, segment.p_filesz);
    if (!content || segment.p_filesz > segment.p_memsz)
      return input_error("the code object is cut off in a segment");
    std::memcpy(object.image_.get() + segment.p_vaddr, content->data(), content->size());
  }
  HONE_TRY(relocate(elf, object.image()));

  const auto symbols = symbols_of(elf);
  for (Kernel& kernel : object.kernels_) {
    const auto descriptor = symbols.find(kernel.name + ".kd");
    if (descriptor == symbols.end())
      return input_error("the code object lacks the descriptor of kernel {}", kernel.name);
    HONE_TRY(read_descriptor(object.image(), descriptor->second.st_value, kernel));
  }
  for (const auto& [name, symbol] : symbols) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT)
      object.variables_[name] = {symbol.st_value, symbol.st_size};
  }
  HONE_ASSIGN(const std::string text, disassemble(file));
  HONE_ASSIGN(Program program, Program::decode(text));
  object.program_ = std::make_unique<Program>(std::move(program));
  return object;
}

std::size_t code_object_bytes(const void* file) {
  Elf64_Ehdr header;
  std::memcpy(&header, file, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  // lld writes the section headers last.
  return static_cast<std::size_t>(header.e_shoff) +
         std::size_t{header.e_shentsize} * header.e_shnum;
}

bool is_gfx942(std::span<const std::byte> file) {
  const auto header = structure_at<Elf64_Ehdr>(file, 0);
  return header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
         header->e_machine == kAmdGpu && (header->e_flags & kMachineMask) == kGfx942;
}

}  // namespace hone::emulator
