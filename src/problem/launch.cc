#include "problem/launch.h"

#include <nlohmann/json.hpp>

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
  json.at("shape").get_to(map.shape);
  json.at("strides").get_to(map.strides);
  json.at("block_size").get_to(map.box);
  json.at("elem_type").get_to(map.element_type);
  json.at("elem_size").get_to(map.element_bytes);
  json.at("swizzle").get_to(map.swizzle);
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
    json.at("binding").get_to(argument.binding);
  } else if (json.contains("binding")) {
    argument.kind = Kind::kBinding;
    json.at("binding").get_to(argument.binding);
  } else if (json.contains("scratch")) {
    argument.kind = Kind::kScratch;
    json.at("scratch").get_to(argument.value);
  } else {
    json.at("i32").get_to(argument.value);
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
  json.at("ordinal").get_to(launch.ordinal);
  json.at("grid").get_to(launch.grid);
  json.at("block").get_to(launch.block);
  json.at("shared_bytes").get_to(launch.shared_bytes);
  json.at("constants").get_to(launch.constants);
  launch.arguments = json.value("arguments", launch.arguments);
  launch.hidden_pointers = json.value("hidden_pointers", 0);
  launch.scratch_bytes = json.value("scratch_bytes", std::int64_t{0});
  launch.code_bytes = json.value("code_bytes", std::int64_t{0});
  launch.then = json.value("then", launch.then);
}

}  // namespace hone::problem
