#include "device/cuda/gpu.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "device/library.h"
#include "device/place.h"

namespace hone::device::cuda {
namespace {

std::string text_of(const Uuid& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

Result<GpuFacts> facts_of(Driver& driver, int index) {
  const DriverApi& call = driver.call();
  const std::string doing = fmt::format("asking for the facts of cuda:{}", index);
  DeviceHandle device = 0;
  HONE_TRY(driver.check(call.device_get(&device, index), doing));
  GpuFacts facts{.index = index, .name = {}, .uuid = {}, .pci = {}};
  char name[256] = {}, pci[64] = {};
  HONE_TRY(driver.check(call.device_name(name, sizeof(name) - 1, device), doing));
  HONE_TRY(driver.check(call.device_pci_bus_id(pci, sizeof(pci) - 1, device), doing));
  Uuid uuid{};
  HONE_TRY(driver.check(call.device_uuid(&uuid, device), doing));
  facts.name = name;
  facts.pci = pci;
  facts.uuid = text_of(uuid);
  std::size_t bytes = 0;
  HONE_TRY(driver.check(call.device_total_memory(&bytes, device), doing));
  facts.memory_bytes = static_cast<std::int64_t>(bytes);
  int major = 0, minor = 0, l2 = 0, shared = 0, kilohertz = 0;
  const std::pair<int, int*> attributes[] = {{kAttributeMajor, &major},
                                             {kAttributeMinor, &minor},
                                             {kAttributeL2Bytes, &l2},
                                             {kAttributeSharedOptIn, &shared},
                                             {kAttributeMultiprocessors, &facts.multiprocessors}};
  for (const auto& [attribute, value] : attributes)
    HONE_TRY(driver.check(call.device_attribute(value, attribute, device), doing));
  // Some virtual GPUs do not report it; nothing depends on it.
  if (call.device_attribute(&kilohertz, kAttributeClockKilohertz, device) != 0) kilohertz = 0;
  facts.capability = 10 * major + minor;
  facts.l2_bytes = l2;
  facts.shared_bytes = shared;
  facts.megahertz = kilohertz / 1000;
  facts.driver_version = driver.version();
  return facts;
}

}  // namespace

void to_json(nlohmann::json& json, const GpuFacts& facts) {
  json = {{"index", facts.index},
          {"name", facts.name},
          {"uuid", facts.uuid},
          {"pci", facts.pci},
          {"arch", facts.arch()},
          {"multiprocessors", facts.multiprocessors},
          {"l2_bytes", facts.l2_bytes},
          {"memory_bytes", facts.memory_bytes},
          {"shared_bytes", facts.shared_bytes},
          {"megahertz", facts.megahertz},
          {"driver_version", facts.driver_version}};
}

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

Result<GpuFacts> find_device(const std::vector<GpuFacts>& devices, int index) {
  const auto found = std::ranges::find(devices, index, &GpuFacts::index);
  if (found != devices.end()) return *found;
  std::vector<std::pair<int, std::string>> present;
  for (const GpuFacts& facts : devices) present.emplace_back(facts.index, facts.name);
  return no_such_device(kKind, index, present);
}

nlohmann::json device_identity(const GpuFacts& facts) {
  return {{"kind", kKind},
          {"name", facts.name},
          {"arch", facts.arch()},
          {"multiprocessors", facts.multiprocessors},
          {"memory_bytes", facts.memory_bytes},
          {"driver_version", facts.driver_version}};
}

Result<std::shared_ptr<GpuContext>> GpuContext::open(std::shared_ptr<Driver> driver,
                                                     const GpuFacts& facts) {
  const std::shared_ptr<GpuContext> gpu(new GpuContext);
  gpu->driver_ = std::move(driver);
  gpu->facts_ = facts;
  const DriverApi& call = gpu->call();
  ContextHandle context = nullptr;
  const auto open = [&]() -> Status {
    const std::string doing = fmt::format("opening cuda:{} ({})", facts.index, facts.name);
    HONE_TRY(gpu->check(call.device_get(&gpu->device_, facts.index), doing));
    HONE_TRY(gpu->check(call.primary_context_retain(&context, gpu->device_), doing));
    gpu->retained_ = true;
    return gpu->check(call.context_set_current(context), doing);
  };
  if (const Status opened = open(); !opened) return environment_error("{}", opened.error().message);
  return gpu;
}

GpuContext::~GpuContext() {
  if (retained_) call().primary_context_release(device_);
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
