#include "provider/code_object_metadata.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "provider/elf.h"

namespace hone::provider {
namespace {

constexpr std::uint32_t kAmdgpuMetadata = 32;  // NT_AMDGPU_METADATA

std::size_t aligned(std::size_t size) {
  return (size + 3) & ~std::size_t{3};
}

// Content of the first note of that type by "AMDGPU".
std::optional<std::string_view> metadata_note(std::string_view notes) {
  constexpr std::string_view kOwner("AMDGPU\0", 7);
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data(), sizeof header);
    notes.remove_prefix(sizeof header);
    const std::size_t owner = aligned(header.n_namesz), content = aligned(header.n_descsz);
    if (owner > notes.size() || content > notes.size() - owner) return std::nullopt;
    if (header.n_type == kAmdgpuMetadata && notes.substr(0, header.n_namesz) == kOwner)
      return notes.substr(owner, header.n_descsz);
    notes.remove_prefix(owner + content);
  }
  return std::nullopt;
}

std::int64_t whole_number(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string word(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Arguments that the runtime adds lie behind those that the caller passes.
void read_arguments(const nlohmann::json& said, CodeObjectKernel& kernel) {
  for (const nlohmann::json& each : said) {
    if (!each.is_object()) continue;
    const std::string kind = word(each, ".value_kind");
    if (kind.starts_with("hidden_")) {
      kernel.kernarg_bytes = std::min(kernel.kernarg_bytes, whole_number(each, ".offset"));
      continue;
    }
    kernel.arguments.push_back({word(each, ".name"), whole_number(each, ".offset"),
                                whole_number(each, ".size"), kind == "global_buffer"});
  }
}

CodeObjectKernel kernel_of(const nlohmann::json& said) {
  CodeObjectKernel kernel{
      .name = word(said, ".name"),
      .kernarg_bytes = whole_number(said, ".kernarg_segment_size"),
      .most_threads = static_cast<int>(whole_number(said, ".max_flat_workgroup_size")),
      .subgroup_size = static_cast<int>(whole_number(said, ".wavefront_size")),
      .shared_bytes = whole_number(said, ".group_segment_fixed_size")};
  const auto block = said.find(".reqd_workgroup_size");
  if (block != said.end() && block->is_array() && block->size() == 3)
    for (std::size_t i = 0; i < 3; ++i)
      if ((*block)[i].is_number_integer()) kernel.required_block.at(i) = (*block)[i];
  const auto arguments = said.find(".args");
  if (arguments != said.end() && arguments->is_array()) read_arguments(*arguments, kernel);
  return kernel;
}

}  // namespace

nlohmann::json code_object_metadata(std::string_view code) {
  const auto elf = read_elf(code);
  if (!elf || elf->machine != EM_AMDGPU) return nullptr;
  for (const ElfSection& section : elf->sections) {
    if (section.type != SHT_NOTE) continue;
    const auto note = metadata_note(section.bytes);
    if (!note) continue;
    constexpr bool kStrict = true, kThrows = false;
    nlohmann::json metadata = nlohmann::json::from_msgpack(*note, kStrict, kThrows);
    if (!metadata.is_object() || !metadata.contains("amdhsa.kernels") ||
        !metadata["amdhsa.kernels"].is_array())
      return nullptr;
    return metadata;
  }
  return nullptr;
}

std::vector<CodeObjectKernel> code_object_kernels(std::string_view code) {
  const nlohmann::json metadata = code_object_metadata(code);
  std::vector<CodeObjectKernel> kernels;
  if (metadata.is_null()) return kernels;
  for (const nlohmann::json& each : metadata["amdhsa.kernels"])
    if (each.is_object()) kernels.push_back(kernel_of(each));
  return kernels;
}

}  // namespace hone::provider
