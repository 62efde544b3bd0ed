#include "problem/launch.h"

#include <nlohmann/json.hpp>

#include "base/json_fields.h"

namespace hone::problem {

std::vector<KernelPart> kernels_of(const Launch& launch, std::string_view code) {
  std::vector<KernelPart> parts;
  const auto add = [&](const Launch& each) {
    const std::size_t bytes =
        each.code_bytes > 0 ? static_cast<std::size_t>(each.code_bytes) : code.size();
    parts.push_back({&each, code.substr(0, bytes)});
    code.remove_prefix(parts.back().code.size());
  };
  add(launch);
  for (const Launch& each : launch.then) add(each);
  return parts;
}

constexpr auto kTensorMapFields = [](auto& map, auto&& field) {
  field("shape", map.shape);
  field("strides", map.strides);
  field("block_size", map.box);
  field("elem_type", map.element_type);
  field("elem_size", map.element_bytes);
  field("swizzle", map.swizzle);
};

void to_json(nlohmann::json& json, const TensorMap& map) {
  write_fields(json, map, kTensorMapFields);
}

void from_json(const nlohmann::json& json, TensorMap& map) {
  read_fields(json, map, kTensorMapFields);
}

void to_json(nlohmann::json& json, const LaunchArgument& argument) {
  switch (argument.kind) {
    case LaunchArgument::Kind::kBinding:
      json = {{"binding", argument.binding}};
      break;
    case LaunchArgument::Kind::kScratch:
      json = {{"scratch", argument.value}};
      break;
    case LaunchArgument::Kind::kInteger:
      json = {{"i32", argument.value}};
      break;
    case LaunchArgument::Kind::kTensorMap:
      json = {{"tensor_map", argument.map}, {"binding", argument.binding}};
  }
}

void from_json(const nlohmann::json& json, LaunchArgument& argument) {
  using Kind = LaunchArgument::Kind;
  argument = {};
  if (json.contains("tensor_map")) {
    argument.kind = Kind::kTensorMap;
    json.at("tensor_map").get_to(argument.map);
    exact_to(json.at("binding"), argument.binding);
  } else if (json.contains("binding")) {
    argument.kind = Kind::kBinding;
    exact_to(json.at("binding"), argument.binding);
  } else if (json.contains("scratch")) {
    argument.kind = Kind::kScratch;
    exact_to(json.at("scratch"), argument.value);
  } else {
    argument.value = exact<std::int32_t>(json.at("i32"));
  }
}

constexpr auto kOwnMemoryFields = [](auto& memory, auto&& field) {
  field("variable", memory.variable);
  field("bytes", memory.bytes);
};

// Writes rare fields only for the launches that have them: most rows of a store are IREE's.
constexpr auto kLaunchFields = [](auto& launch, auto&& field) {
  field("entry", launch.entry);
  field("ordinal", launch.ordinal);
  field("grid", launch.grid);
  field("block", launch.block);
  field("shared_bytes", launch.shared_bytes);
  field("constants", launch.constants);
  field.when(!launch.arguments.empty(), "arguments", launch.arguments);
  field.when(launch.hidden_pointers != 0, "hidden_pointers", launch.hidden_pointers);
  field.when(launch.scratch_bytes != 0, "scratch_bytes", launch.scratch_bytes);
  field.list_if_any("own_memory", launch.own_memory, kOwnMemoryFields);
  field.when(launch.code_bytes != 0, "code_bytes", launch.code_bytes);
  field.when(!launch.then.empty(), "then", launch.then);
};

void to_json(nlohmann::json& json, const Launch& launch) {
  write_fields(json, launch, kLaunchFields);
}

void from_json(const nlohmann::json& json, Launch& launch) {
  read_fields(json, launch, kLaunchFields);
}

}  // namespace hone::problem
