#include "device/cuda/facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

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

Result<Facts> facts_of(Driver& driver, int index) {
  const DriverApi& call = driver.call();
  const std::string doing = fmt::format("asking for the facts of cuda:{}", index);
  DeviceHandle device = 0;
  HONE_TRY(driver.check(call.device_get(&device, index), doing));
  Facts facts{.index = index, .name = {}, .uuid = {}, .pci = {}};
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

void to_json(nlohmann::json& json, const Facts& facts) {
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

Result<std::vector<Facts>> list_devices(Driver& driver) {
  int count = 0;
  HONE_TRY(driver.check(driver.call().device_count(&count), "counting the GPUs"));
  std::vector<Facts> devices;
  for (int index = 0; index < count; ++index) {
    HONE_ASSIGN(Facts facts, facts_of(driver, index));
    devices.push_back(std::move(facts));
  }
  return devices;
}

Result<Facts> find_device(const std::vector<Facts>& devices, int index) {
  const auto found = std::ranges::find(devices, index, &Facts::index);
  if (found != devices.end()) return *found;
  std::vector<std::pair<int, std::string>> present;
  for (const Facts& facts : devices) present.emplace_back(facts.index, facts.name);
  return no_such_device(kKind, index, present);
}

nlohmann::json device_identity(const Facts& facts) {
  return {{"kind", kKind},
          {"name", facts.name},
          {"arch", facts.arch()},
          {"multiprocessors", facts.multiprocessors},
          {"memory_bytes", facts.memory_bytes},
          {"driver_version", facts.driver_version}};
}

}  // namespace hone::device::cuda
