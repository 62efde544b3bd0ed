#include "provider/resources.h"

#include <elf.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/elf.h"
#include "provider/code_object_metadata.h"

namespace hone::provider {
namespace {

int number(const nlohmann::json& kernel, const char* key) {
  const auto found = kernel.find(key);
  return found != kernel.end() && found->is_number_integer() ? found->get<int>() : 0;
}

KernelResources resources_of(const nlohmann::json& kernel) {
  // .vgpr_count holds the accumulation registers too where both come from one file (gfx90a on).
  return {.registers = number(kernel, ".vgpr_count"),
          .scalar_registers = number(kernel, ".sgpr_count"),
          .spills = number(kernel, ".vgpr_spill_count") + number(kernel, ".sgpr_spill_count"),
          .private_bytes = number(kernel, ".private_segment_fixed_size"),
          .shared_bytes = number(kernel, ".group_segment_fixed_size"),
          .subgroup_size = number(kernel, ".wavefront_size")};
}

// Attributes of .nv.info: a byte each for format and kind, then the size of what follows.
constexpr std::uint8_t kSizedValue = 4;
constexpr std::uint8_t kFrameSize = 0x11, kRegisterCount = 0x2f;
constexpr std::uint16_t kCuda = 190;  // EM_CUDA

template <class T>
T read_at(std::string_view bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The name of symbol `index`.
std::string_view symbol_name(const ElfFile& elf, std::uint32_t index) {
  for (const ElfSection& section : elf.sections) {
    if (section.type != SHT_SYMTAB || section.link >= elf.sections.size()) continue;
    const std::uint64_t at = std::uint64_t{index} * sizeof(Elf64_Sym);
    if (at + sizeof(Elf64_Sym) > section.bytes.size()) return {};
    return text_at(elf.sections[section.link].bytes, read_at<Elf64_Sym>(section.bytes, at).st_name);
  }
  return {};
}

// Reads the attributes of `entry` into `resources`; returns false if they lack its registers.
bool read_attributes(const ElfFile& elf, std::string_view info, std::string_view entry,
                     KernelResources& resources) {
  bool found = false;
  while (info.size() >= 4) {
    const auto format = read_at<std::uint8_t>(info, 0), kind = read_at<std::uint8_t>(info, 1);
    const std::size_t size = format == kSizedValue ? read_at<std::uint16_t>(info, 2) : 0;
    info.remove_prefix(4);
    if (size > info.size()) return found;
    if (size == 8 && symbol_name(elf, read_at<std::uint32_t>(info, 0)) == entry) {
      const auto value = read_at<std::uint32_t>(info, 4);
      if (kind == kRegisterCount) resources.registers = static_cast<int>(value);
      if (kind == kFrameSize) resources.private_bytes = value;
      found |= kind == kRegisterCount;
    }
    info.remove_prefix(size);
  }
  return found;
}

}  // namespace

std::optional<KernelResources> cubin_resources(std::string_view cubin, std::string_view entry) {
  const auto elf = read_elf(cubin);
  if (!elf || elf->machine != kCuda) return std::nullopt;
  KernelResources resources;
  resources.subgroup_size = 32;
  bool found = false;
  for (const ElfSection& section : elf->sections) {
    if (section.name == ".nv.info") found |= read_attributes(*elf, section.bytes, entry, resources);
  }
  if (!found) return std::nullopt;
  return resources;
}

std::optional<KernelResources> hsaco_resources(std::string_view hsaco, std::string_view entry) {
  const nlohmann::json metadata = code_object_metadata(hsaco);
  if (metadata.is_null()) return std::nullopt;
  for (const nlohmann::json& kernel : metadata["amdhsa.kernels"])
    if (kernel.is_object() && kernel.contains(".name") && kernel[".name"] == entry)
      return resources_of(kernel);
  return std::nullopt;
}

std::optional<KernelResources> kernel_resources(const Artifact& artifact) {
  if (artifact.format == kCudaCubin) {
    std::optional<KernelResources> resources =
        cubin_resources(artifact.code, artifact.launch.entry);
    if (resources) resources->shared_bytes = artifact.launch.shared_bytes;
    return resources;
  }
  if (artifact.format == kRocmHsaco) return hsaco_resources(artifact.code, artifact.launch.entry);
  return std::nullopt;
}

}  // namespace hone::provider
