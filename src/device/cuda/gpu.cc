#include "device/cuda/gpu.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "device/library.h"

namespace hone::device::cuda {
namespace {

Result<GpuFacts> facts_of(Driver& driver, int index) {
  HONE_ASSIGN(GpuFacts facts, gpu::shared_facts(driver, kKind, index));
  const gpu::DriverApi& call = driver.call();
  const std::string doing = fmt::format("asking for the facts of cuda:{}", index);
  gpu::DeviceHandle device = 0;
  HONE_TRY(driver.check(call.device_get(&device, index), doing));
  int major = 0, minor = 0, l2 = 0, shared = 0, kilohertz = 0;
  const std::pair<int, int*> attributes[] = {{kAttributeMajor, &major},
                                             {kAttributeMinor, &minor},
                                             {kAttributeL2Bytes, &l2},
                                             {kAttributeSharedOptIn, &shared},
                                             {kAttributeMultiprocessors, &facts.units}};
  for (const auto& [attribute, value] : attributes)
    HONE_TRY(driver.check(call.device_attribute(value, attribute, device), doing));
  // Some virtual GPUs do not report it; nothing depends on it.
  if (call.device_attribute(&kilohertz, kAttributeClockKilohertz, device) != 0) kilohertz = 0;
  facts.arch = fmt::format("sm_{}", 10 * major + minor);
  facts.last_level_cache_bytes = l2;
  facts.shared_bytes = shared;
  facts.megahertz = kilohertz / 1000;
  return facts;
}

// All facts, for people and other programs.
nlohmann::json details_of(const GpuFacts& facts) {
  return {{"index", facts.index},
          {"name", facts.name},
          {"uuid", facts.id},
          {"pci", facts.pci},
          {"arch", facts.arch},
          {"multiprocessors", facts.units},
          {"l2_bytes", facts.last_level_cache_bytes},
          {"memory_bytes", facts.memory_bytes},
          {"shared_bytes", facts.shared_bytes},
          {"megahertz", facts.megahertz},
          {"driver_version", facts.driver_version}};
}

// Facts that two comparable measurements share. They tell a store from another machine with the
// same GPU from a store of another GPU.
nlohmann::json identity_of(const GpuFacts& facts) {
  return {{"kind", kKind},
          {"name", facts.name},
          {"arch", facts.arch},
          {"multiprocessors", facts.units},
          {"memory_bytes", facts.memory_bytes},
          {"driver_version", facts.driver_version}};
}

// Rough throughput of kernels on an H200, per second: f16 operations, and bytes from its memory.
constexpr double kRoughFlops = 2e14, kRoughBytes = 2e12;
// Elementwise kernels of 0.2 MB in BERT took 2.7 to 3.1 us each on an H200 (ncu).
constexpr double kLaunchSeconds = 3e-6;

}  // namespace

Result<std::vector<GpuFacts>> list_devices(Driver& driver) {
  int count = 0;
  HONE_TRY(driver.check(driver.call().device_count(&count), "counting the GPUs"));
  std::vector<GpuFacts> devices;
  for (int index = 0; index < count; ++index) {
    HONE_ASSIGN(GpuFacts facts, facts_of(driver, index));
    devices.push_back(std::move(facts));
  }
  return devices;
}

Place place_of(const GpuFacts& facts, std::vector<int> cores) {
  Place place;
  place.address = {std::string(kKind), facts.index, std::move(cores)};
  place.traits = {.own_memory = true,
                  .compiling_disturbs = false,
                  .one_batch_tells = true,
                  .assembles_code = true,
                  .runs_on_host = false,
                  .matrix_units = true};
  const std::string driver =
      fmt::format("CUDA {}.{}", facts.driver_version / 1000, facts.driver_version % 1000 / 10);
  place.facts = {
      .name = facts.name,
      .driver = driver,
      .target = facts.arch,
      .description = fmt::format(
          "{}: {}, {} multiprocessors, {:.0f} GiB, L2 {:.0f} MiB, driver of {}", facts.name,
          facts.arch, facts.units, static_cast<double>(facts.memory_bytes) / (1 << 30),
          static_cast<double>(facts.last_level_cache_bytes) / (1 << 20), driver),
      .id = facts.id,
      .identity = nlohmann::json{{"identity", identity_of(facts)}}.dump(),
      .details = details_of(facts).dump(),
      .last_level_cache_bytes = facts.last_level_cache_bytes,
      .memory_bytes = facts.memory_bytes,
      .workgroup_memory_bytes = facts.shared_bytes,
      .units = facts.units,
      .rough_flops = kRoughFlops,
      .rough_bytes = kRoughBytes,
      .launch_seconds = kLaunchSeconds};
  return place;
}

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
  const auto opened = SharedLibrary::open({library});
  if (!opened)
    return environment_error(
        "clocks and throttling are not known: NVIDIA's management library is missing ({})",
        opened.error().message);
  const auto api = std::make_shared<Api>();
  opened->find("nvmlInit_v2", api->init);
  opened->find("nvmlDeviceGetHandleByUUID", api->device_by_uuid);
  opened->find("nvmlDeviceGetClockInfo", api->clock);
  opened->find("nvmlDeviceGetMaxClockInfo", api->most_clock);
  opened->find("nvmlDeviceGetPowerUsage", api->milliwatts);
  opened->find("nvmlDeviceGetEnforcedPowerLimit", api->milliwatt_limit);
  opened->find("nvmlDeviceGetTemperature", api->celsius);
  opened->find("nvmlDeviceGetCurrentClocksThrottleReasons", api->throttle_reasons);
  opened->find("nvmlDeviceGetComputeRunningProcesses_v3", api->processes);
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
