#include "device/cuda/nvml.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace hone::device::cuda {
namespace {

constexpr unsigned kClockMultiprocessors = 1, kClockMemory = 2;  // nvmlClockType_t
constexpr unsigned kTemperatureGpu = 0;

// nvmlProcessInfo_t of the calls that end in _v2 and _v3.
struct ProcessInfo {
  unsigned pid = 0;
  unsigned long long bytes = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

constexpr std::array kReasons{
    std::pair{kThrottlePowerCap, "power cap"}, std::pair{kThrottleHardware, "hardware slowdown"},
    std::pair{kThrottleHeat, "heat"}, std::pair{kThrottleHardwareHeat, "hardware slowdown by heat"},
    std::pair{kThrottlePowerBrake, "power brake"}};

// The number that a call of the library gives; nullopt if the call is absent or fails.
template <class Call, class... Asked>
std::optional<double> number_of(Call call, void* device, Asked... asked) {
  unsigned value = 0;
  if (call == nullptr || call(device, asked..., &value) != 0) return std::nullopt;
  return value;
}

}  // namespace

// Absent functions stay null: an older library offers fewer.
struct Nvml::Api {
  int (*init)() = nullptr;
  int (*device_by_uuid)(const char*, void**) = nullptr;
  int (*clock)(void*, unsigned, unsigned*) = nullptr;
  int (*most_clock)(void*, unsigned, unsigned*) = nullptr;
  int (*milliwatts)(void*, unsigned*) = nullptr;
  int (*milliwatt_limit)(void*, unsigned*) = nullptr;
  int (*celsius)(void*, unsigned, unsigned*) = nullptr;
  int (*throttle_reasons)(void*, unsigned long long*) = nullptr;
  int (*processes)(void*, unsigned*, ProcessInfo*) = nullptr;
};

std::vector<std::string> throttle_words(std::uint64_t reasons) {
  std::vector<std::string> words;
  for (const auto& [bit, word] : kReasons)
    if ((reasons & bit) != 0) words.emplace_back(word);
  return words;
}

bool disturbs(std::uint64_t reasons) {
  return (reasons &
          (kThrottleHardware | kThrottleHeat | kThrottleHardwareHeat | kThrottlePowerBrake)) != 0;
}

Result<Nvml> Nvml::open(const std::string& uuid, const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return environment_error(
        "clocks and throttling are not known: NVIDIA's management library is missing ({})",
        dlerror());
  const auto api = std::make_shared<Api>();
  const auto find = [handle](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
  };
  find(api->init, "nvmlInit_v2");
  find(api->device_by_uuid, "nvmlDeviceGetHandleByUUID");
  find(api->clock, "nvmlDeviceGetClockInfo");
  find(api->most_clock, "nvmlDeviceGetMaxClockInfo");
  find(api->milliwatts, "nvmlDeviceGetPowerUsage");
  find(api->milliwatt_limit, "nvmlDeviceGetEnforcedPowerLimit");
  find(api->celsius, "nvmlDeviceGetTemperature");
  find(api->throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(api->processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  Nvml nvml;
  if (api->init == nullptr || api->device_by_uuid == nullptr || api->init() != 0 ||
      api->device_by_uuid(uuid.c_str(), &nvml.device_) != 0)
    return environment_error(
        "clocks and throttling are not known: NVIDIA's management library does not know {}", uuid);
  nvml.api_ = api;
  return nvml;
}

GpuState Nvml::state(int index) const {
  GpuState state{.gpu = index};
  state.megahertz = megahertz();
  state.most_megahertz = most_megahertz();
  state.memory_megahertz = number_of(api_->clock, device_, kClockMemory);
  if (const auto milliwatts = number_of(api_->milliwatts, device_))
    state.watts = *milliwatts / 1000.0;
  if (const auto limit = number_of(api_->milliwatt_limit, device_))
    state.watt_limit = *limit / 1000.0;
  state.celsius = number_of(api_->celsius, device_, kTemperatureGpu);
  state.throttled = throttle_words(throttle_reasons());
  std::array<ProcessInfo, 64> processes;
  unsigned count = processes.size();
  if (api_->processes != nullptr && api_->processes(device_, &count, processes.data()) == 0) {
    const auto end = processes.begin() + std::min<unsigned>(count, processes.size());
    // Pids in a container may be the host's: in that case one of them counts as this process.
    const auto others = std::count_if(processes.begin(), end, [](const ProcessInfo& process) {
      return process.pid != static_cast<unsigned>(getpid());
    });
    const bool own_is_there = others < end - processes.begin();
    state.other_processes = static_cast<int>(own_is_there || others == 0 ? others : others - 1);
  }
  return state;
}

std::uint64_t Nvml::throttle_reasons() const {
  unsigned long long reasons = 0;
  if (api_->throttle_reasons == nullptr || api_->throttle_reasons(device_, &reasons) != 0) return 0;
  return reasons;
}

std::optional<double> Nvml::megahertz() const {
  return number_of(api_->clock, device_, kClockMultiprocessors);
}

std::optional<double> Nvml::most_megahertz() const {
  return number_of(api_->most_clock, device_, kClockMultiprocessors);
}

}  // namespace hone::device::cuda
