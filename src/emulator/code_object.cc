#include "emulator/code_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "emulator/elf_file.h"

namespace hone::emulator {
namespace {

using nlohmann::json;

constexpr std::uint32_t kMostArgumentBytes = 1 << 16;
constexpr std::uint32_t kMostPrivateBytes = 1 << 20;  // of a lane
constexpr std::uint64_t kPreloadPrologue = 256;       // bytes, for firmware that does not preload

Result<json> read_metadata(const ElfFile& elf) {
  constexpr std::uint32_t kMetadata = 32;  // NT_AMDGPU_METADATA
  const auto note = amdgpu_note(elf, kMetadata);
  if (!note) return input_error("the code object has no AMDGPU metadata");
  json metadata = json::from_msgpack(*note, true, false);
  if (metadata.is_discarded()) return input_error("the code object's metadata is no msgpack");
  return metadata;
}

std::uint32_t number(const json& object, const char* key, std::uint32_t otherwise) {
  const auto found = object.find(key);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (found == object.end() || !found->is_number_unsigned()) return otherwise;
  return static_cast<std::uint32_t>(std::min(found->get<std::uint64_t>(), kMost));
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The kernel's descriptor (LLVM AMDGPUUsage, "code object V3 kernel descriptor"), 64 bytes.
Status read_descriptor(std::span<const std::byte> image, std::uint64_t address, Kernel& kernel) {
  constexpr std::uint64_t kDescriptorBytes = 64;
  if (address > image.size() || image.size() - address < kDescriptorBytes)
    return input_error("the descriptor of kernel {} is outside the code object", kernel.name);
  const auto descriptor = characters(image).substr(address, kDescriptorBytes);
  const auto word = [&](std::uint64_t offset) {
    return *structure_at<std::uint32_t>(descriptor, offset);
  };
  const auto half = [&](std::uint64_t offset) {
    return *structure_at<std::uint16_t>(descriptor, offset);
  };
  kernel.local_bytes = word(0);
  kernel.private_bytes = word(4);
  kernel.argument_bytes = std::max(kernel.argument_bytes, word(8));
  kernel.entry = address + *structure_at<std::uint64_t>(descriptor, 16);
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
  const auto pair = [](bool is_set) { return is_set ? 2u : 0u; };
  const std::uint32_t scalars = pair(kernel.has_dispatch_pointer) + pair(kernel.has_queue_pointer) +
                                pair(kernel.has_argument_pointer) + pair(kernel.has_dispatch_id) +
                                (kernel.has_private_size ? 1 : 0) + kernel.preload_dwords;
  if (scalars > kernel.user_scalars ||
      4 * (kernel.preload_dwords + kernel.preload_offset) > kernel.argument_bytes + 3) {
    return input_error("the descriptor of kernel {} contradicts itself", kernel.name);
  }
  if (kernel.argument_bytes > kMostArgumentBytes || kernel.private_bytes > kMostPrivateBytes) {
    return input_error("kernel {} asks for more memory than gfx942 has", kernel.name);
  }
  return {};
}

Result<std::vector<Kernel>> kernels_of(const json& metadata) {
  std::vector<Kernel> kernels;
  const auto list = metadata.find("amdhsa.kernels");
  if (list == metadata.end() || !list->is_array())
    return input_error("the code object's metadata lists no kernels");
  for (const json& entry : *list) {
    Kernel kernel;
    kernel.name = text_of(entry, ".name");
    kernel.argument_bytes = number(entry, ".kernarg_segment_size", 0);
    kernel.most_threads = number(entry, ".max_flat_workgroup_size", 1024);
    const auto arguments = entry.find(".args");
    if (arguments != entry.end() && arguments->is_array()) {
      for (const json& argument : *arguments) {
        kernel.arguments.push_back({number(argument, ".offset", 0), number(argument, ".size", 0),
                                    text_of(argument, ".value_kind")});
      }
    }
    for (const KernelArgument& argument : kernel.arguments) {
      if (std::uint64_t{argument.offset} + argument.size <= kernel.argument_bytes) continue;
      return input_error("kernel {} has an argument outside of its {} bytes of arguments",
                         kernel.name, kernel.argument_bytes);
    }
    if (kernel.argument_bytes > kMostArgumentBytes) {
      return input_error("kernel {} has {} bytes of arguments; at most {} are possible",
                         kernel.name, kernel.argument_bytes, kMostArgumentBytes);
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
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

Result<CodeObject> read_code_object(std::span<const std::byte> file, std::string_view disassembly) {
  HONE_ASSIGN(const ElfFile elf, read_gfx942(characters(file)));
  HONE_ASSIGN(const json metadata, read_metadata(elf));
  CodeObject object;
  HONE_ASSIGN(object.kernels_, kernels_of(metadata));

  HONE_ASSIGN(LoadedImage image, load_image(elf));
  object.image_ = std::move(image.bytes);
  object.image_bytes_ = image.size;

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
  HONE_ASSIGN(Program program, Program::decode(disassembly));
  object.program_ = std::make_unique<Program>(std::move(program));
  return object;
}

Result<CodeObject> read_code_object(std::span<const std::byte> file) {
  HONE_TRY(read_gfx942(characters(file)));  // before a process is started for it
  HONE_ASSIGN(const std::string text, disassemble(file));
  return read_code_object(file, text);
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
  return is_gfx942_header(characters(file));
}

}  // namespace hone::emulator
