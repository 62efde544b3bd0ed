#include "device/machine_state.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"

namespace hone::device {
namespace {

constexpr auto kCoreFields = [](auto& core, auto&& field) {
  field("core", core.core);
  field("governor", core.governor);
  field("busy", core.busy);
  field("stolen", core.stolen);
  field("megahertz", core.megahertz);
  field("throttles", core.throttles);
};

constexpr auto kProcessFields = [](auto& process, auto&& field) {
  field("pid", process.pid);
  field("name", process.name);
  field("share", process.share);
  field("core", process.core);
};

constexpr auto kGpuFields = [](auto& gpu, auto&& field) {
  field("gpu", gpu.gpu);
  field("throttled", gpu.throttled);
  field("megahertz", gpu.megahertz);
  field("most_megahertz", gpu.most_megahertz);
  field("memory_megahertz", gpu.memory_megahertz);
  field("watts", gpu.watts);
  field("watt_limit", gpu.watt_limit);
  field("celsius", gpu.celsius);
  field("other_processes", gpu.other_processes);
};

constexpr auto kMachineStateFields = [](auto& state, auto&& field) {
  field("load_1min", state.load_1min);
  field("runnable", state.runnable);
  field("seconds", state.seconds);
  field("involuntary_switches", state.involuntary_switches);
  field("background", state.background);
  field.list("cores", state.cores, kCoreFields);
  field.list_if_any("processes", state.processes, kProcessFields);
  field.list_if_any("gpus", state.gpus, kGpuFields);
};

}  // namespace

void add_gpus(MachineState& state, const MachineState& more) {
  const auto keep = [](std::optional<double>& value, const std::optional<double>& other,
                       auto&& is_better) {
    if (other && (!value || is_better(*other, *value))) value = other;
  };
  for (const GpuState& seen : more.gpus) {
    const auto same = std::ranges::find(state.gpus, seen.gpu, &GpuState::gpu);
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
      if (std::ranges::count(same->throttled, reason) == 0) same->throttled.push_back(reason);
  }
}

void to_json(nlohmann::json& json, const MachineState& state) {
  write_fields(json, state, kMachineStateFields);
}

void from_json(const nlohmann::json& json, MachineState& state) {
  read_fields(json, state, kMachineStateFields);
}

}  // namespace hone::device
