#include "device/machine_state.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/exact_json.h"

namespace hone::device {
namespace {

template <class T>
void put(nlohmann::json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

template <class T>
void get(const nlohmann::json& json, const char* key, std::optional<T>& value) {
  value.reset();
  if (const auto found = json.find(key); found != json.end()) value = exact<T>(*found);
}

void to_json(nlohmann::json& json, const CoreState& core) {
  json = {{"core", core.core}, {"governor", core.governor}};
  put(json, "busy", core.busy);
  put(json, "stolen", core.stolen);
  put(json, "megahertz", core.megahertz);
  put(json, "throttles", core.throttles);
}

CoreState core_from(const nlohmann::json& json) {
  CoreState core{.core = exact<int>(json.at("core")),
                 .busy = {},
                 .stolen = {},
                 .megahertz = {},
                 .throttles = {},
                 .governor = json.at("governor").get<std::string>()};
  get(json, "busy", core.busy);
  get(json, "stolen", core.stolen);
  get(json, "megahertz", core.megahertz);
  get(json, "throttles", core.throttles);
  return core;
}

void to_json(nlohmann::json& json, const BusyProcess& process) {
  json = {{"pid", process.pid},
          {"name", process.name},
          {"share", process.share},
          {"core", process.core}};
}

BusyProcess process_from(const nlohmann::json& json) {
  return {.pid = exact<int>(json.at("pid")),
          .name = json.at("name").get<std::string>(),
          .share = json.at("share").get<double>(),
          .core = exact<int>(json.at("core"))};
}

void to_json(nlohmann::json& json, const GpuState& gpu) {
  json = {{"gpu", gpu.gpu}, {"throttled", gpu.throttled}};
  put(json, "megahertz", gpu.megahertz);
  put(json, "most_megahertz", gpu.most_megahertz);
  put(json, "memory_megahertz", gpu.memory_megahertz);
  put(json, "watts", gpu.watts);
  put(json, "watt_limit", gpu.watt_limit);
  put(json, "celsius", gpu.celsius);
  put(json, "other_processes", gpu.other_processes);
}

GpuState gpu_from(const nlohmann::json& json) {
  GpuState gpu{.gpu = exact<int>(json.at("gpu")),
               .throttled = json.at("throttled").get<std::vector<std::string>>()};
  get(json, "megahertz", gpu.megahertz);
  get(json, "most_megahertz", gpu.most_megahertz);
  get(json, "memory_megahertz", gpu.memory_megahertz);
  get(json, "watts", gpu.watts);
  get(json, "watt_limit", gpu.watt_limit);
  get(json, "celsius", gpu.celsius);
  get(json, "other_processes", gpu.other_processes);
  return gpu;
}

}  // namespace

void add_gpus(MachineState& state, const MachineState& more) {
  const auto keep = [](std::optional<double>& value, const std::optional<double>& other,
                       auto&& is_better) {
    if (other && (!value || is_better(*other, *value))) value = other;
  };
  for (const GpuState& seen : more.gpus) {
    const auto same = std::find_if(state.gpus.begin(), state.gpus.end(),
                                   [&](const GpuState& gpu) { return gpu.gpu == seen.gpu; });
    if (same == state.gpus.end()) {
      state.gpus.push_back(seen);
      continue;
    }
    keep(same->megahertz, seen.megahertz, std::less<>());
    keep(same->memory_megahertz, seen.memory_megahertz, std::less<>());
    keep(same->watt_limit, seen.watt_limit, std::less<>());
    keep(same->watts, seen.watts, std::greater<>());
    keep(same->celsius, seen.celsius, std::greater<>());
    for (const std::string& reason : seen.throttled)
      if (std::find(same->throttled.begin(), same->throttled.end(), reason) ==
          same->throttled.end())
        same->throttled.push_back(reason);
  }
}

void to_json(nlohmann::json& json, const MachineState& state) {
  json = {{"load_1min", state.load_1min},
          {"runnable", state.runnable},
          {"seconds", state.seconds},
          {"involuntary_switches", state.involuntary_switches},
          {"cores", nlohmann::json::array()}};
  put(json, "background", state.background);
  for (const CoreState& core : state.cores) to_json(json["cores"].emplace_back(), core);
  for (const BusyProcess& process : state.processes)
    to_json(json["processes"].emplace_back(), process);
  for (const GpuState& gpu : state.gpus) to_json(json["gpus"].emplace_back(), gpu);
}

void from_json(const nlohmann::json& json, MachineState& state) {
  json.at("load_1min").get_to(state.load_1min);
  exact_to(json.at("runnable"), state.runnable);
  json.at("seconds").get_to(state.seconds);
  exact_to(json.at("involuntary_switches"), state.involuntary_switches);
  get(json, "background", state.background);
  state.cores.clear();
  for (const nlohmann::json& core : json.at("cores")) state.cores.push_back(core_from(core));
  state.processes.clear();
  if (const auto processes = json.find("processes"); processes != json.end())
    for (const nlohmann::json& process : *processes)
      state.processes.push_back(process_from(process));
  state.gpus.clear();
  if (const auto gpus = json.find("gpus"); gpus != json.end())
    for (const nlohmann::json& gpu : *gpus) state.gpus.push_back(gpu_from(gpu));
}

}  // namespace hone::device
