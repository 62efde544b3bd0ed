#include "provider/code_object_metadata.h"

#include <elf.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/elf.h"

namespace hone::provider {
namespace {

constexpr std::uint32_t kAmdgpuMetadata = 32;  // NT_AMDGPU_METADATA

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
  const auto note = amdgpu_note(*elf, kAmdgpuMetadata);
  if (!note) return nullptr;
  constexpr bool kStrict = true, kThrows = false;
  nlohmann::json metadata = nlohmann::json::from_msgpack(*note, kStrict, kThrows);
  if (!metadata.is_object() || !metadata.contains("amdhsa.kernels") ||
      !metadata["amdhsa.kernels"].is_array())
    return nullptr;
  return metadata;
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
