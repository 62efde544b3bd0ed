#include "problem/launch.h"

#include <nlohmann/json.hpp>

#include "base/exact_json.h"

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

void to_json(nlohmann::json& json, const TensorMap& map) {
  json = {{"shape", map.shape},
          {"strides", map.strides},
          {"block_size", map.box},
          {"elem_type", map.element_type},
          {"elem_size", map.element_bytes},
          {"swizzle", map.swizzle}};
}

void from_json(const nlohmann::json& json, TensorMap& map) {
  exact_to(json.at("shape"), map.shape);
  exact_to(json.at("strides"), map.strides);
  exact_to(json.at("block_size"), map.box);
  exact_to(json.at("elem_type"), map.element_type);
  exact_to(json.at("elem_size"), map.element_bytes);
  exact_to(json.at("swizzle"), map.swizzle);
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

// What only some launches have is written for those alone: most rows of a store are IREE's.
void to_json(nlohmann::json& json, const Launch& launch) {
  json = {{"entry", launch.entry},
          {"ordinal", launch.ordinal},
          {"grid", launch.grid},
          {"block", launch.block},
          {"shared_bytes", launch.shared_bytes},
          {"constants", launch.constants}};
  if (!launch.arguments.empty()) json["arguments"] = launch.arguments;
  if (launch.hidden_pointers != 0) json["hidden_pointers"] = launch.hidden_pointers;
  if (launch.scratch_bytes != 0) json["scratch_bytes"] = launch.scratch_bytes;
  if (launch.code_bytes != 0) json["code_bytes"] = launch.code_bytes;
  if (!launch.then.empty()) json["then"] = launch.then;
}

void from_json(const nlohmann::json& json, Launch& launch) {
  launch = {};
  json.at("entry").get_to(launch.entry);
  exact_to(json.at("ordinal"), launch.ordinal);
  exact_to(json.at("grid"), launch.grid);
  exact_to(json.at("block"), launch.block);
  exact_to(json.at("shared_bytes"), launch.shared_bytes);
  exact_to(json.at("constants"), launch.constants);
  launch.arguments = json.value("arguments", launch.arguments);
  launch.hidden_pointers = exact_or(json, "hidden_pointers", 0);
  launch.scratch_bytes = exact_or(json, "scratch_bytes", std::int64_t{0});
  launch.code_bytes = exact_or(json, "code_bytes", std::int64_t{0});
  launch.then = json.value("then", launch.then);
}

}  // namespace hone::problem
