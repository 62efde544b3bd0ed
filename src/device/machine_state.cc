#include "device/machine_state.h"

#include <algorithm>
#include <functional>

namespace hone::device {

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

}  // namespace hone::device
