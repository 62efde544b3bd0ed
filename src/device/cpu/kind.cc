#include "device/cpu/kind.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "device/cpu/core_lease.h"
#include "device/cpu/device.h"
#include "device/cpu/placement.h"
#include "device/cpu/target.h"
#include "problem/target.h"

namespace hone::device::cpu {
namespace {

Result<std::vector<Place>> places(const std::vector<int>& cores) {
  HONE_ASSIGN(const problem::CpuTarget target, detect_target());
  const nlohmann::json machine = device_identity();
  Place place;
  place.address = {.cores = cores.empty() ? available_cores() : cores};
  Facts& facts = place.facts;
  facts.name = machine.value("model", "unknown CPU");
  facts.driver = machine.value("kernel", "");
  facts.target = target.cpu;
  facts.description = fmt::format(
      "{}: {} cores, {}-bit vectors, {} vector registers, L1d {} KiB, L2 {} KiB, L3 {} KiB",
      target.cpu, target.cores, target.vector_bits, target.vector_registers, target.l1d_bytes >> 10,
      target.l2_bytes >> 10, target.l3_bytes >> 10);
  facts.identity = nlohmann::json{{"identity", machine},
                                  {"threads", place.address.cores.size()},
                                  {"placement", placement(place.address.cores)}}
                       .dump();
  facts.details = nlohmann::json(target).dump();
  facts.last_level_cache_bytes = std::max(target.l3_bytes, target.l2_bytes);
  facts.units = static_cast<int>(place.address.cores.size());
  return std::vector{std::move(place)};
}

}  // namespace

DeviceKind kind() {
  return {.name = std::string(kHostKind),
          .runs = [](const std::string& target) { return !problem::names_gpu(target); },
          .places = places,
          .open = [](const Address& address) { return open_device(address.cores); },
          .lease = [](const Place& place) -> Result<std::vector<LockFile>> {
            HONE_ASSIGN(CoreLease lease, CoreLease::acquire(place.address.cores));
            return std::move(lease).locks();
          }};
}

}  // namespace hone::device::cpu
