#include "device/emulated/kind.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "device/emulated/device.h"
#include "emulator/launch.h"

namespace hone::device::emulated {

Place place_of(std::vector<int> cores) {
  constexpr const char* kName = "emulated gfx942 (no GPU)";
  const nlohmann::json identity{
      {"kind", kKind}, {"name", kName}, {"arch", kTarget}, {"emulated", true}};
  Place place;
  place.address = {.kind = std::string(kKind), .index = 0, .cores = std::move(cores)};
  place.traits = {.own_memory = true,
                  .compiling_disturbs = false,
                  .one_batch_tells = true,
                  .assembles_code = false,
                  .runs_on_host = false,
                  .matrix_units = true};
  place.facts.name = kName;
  place.facts.driver = fmt::format("hone's emulator, revision {}", emulator::kRevision);
  place.facts.target = kTarget;
  place.facts.description = fmt::format("{}: {}", kName, place.facts.driver);
  place.facts.identity = nlohmann::json{{"identity", identity}}.dump();
  place.facts.workgroup_memory_bytes = emulator::kLargestLocalBytes;
  place.facts.emulated = true;
  return place;
}

DeviceKind kind() {
  return {.name = std::string(kKind),
          .runs = [](const std::string&) { return false; },
          .places = [](const std::vector<int>& cores) -> Result<std::vector<Place>> {
            return std::vector<Place>{place_of(cores)};
          },
          .open = [](const Address&) -> Result<std::unique_ptr<Device>> { return make_device(); },
          .lease = [](const Place&) -> Result<std::vector<LockFile>> {
            return std::vector<LockFile>();
          }};
}

}  // namespace hone::device::emulated
