#include "device/cpu/kind.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "device/cpu/target.h"
#include "problem/target.h"

namespace hone::device::cpu {

Result<CoreLease> CoreLease::acquire(std::span<const int> cores, std::chrono::milliseconds wait,
                                     const std::filesystem::path& folder) {
  const std::filesystem::path place = folder.empty() ? default_folder() : folder;
  HONE_TRY(make_lock_folder(place));
  CoreLease lease;
  // All take the cores in the same order, so two that want the same ones never wait in a circle.
  const std::set<int> ascending(cores.begin(), cores.end());
  lease.cores_.assign(ascending.begin(), ascending.end());
  const auto deadline = std::chrono::steady_clock::now() + wait;
  for (const int core : lease.cores_) {
    HONE_ASSIGN(LockFile lock,
                LockFile::acquire(place, fmt::format("core-{}", core), fmt::format("core {}", core),
                                  "other cores", deadline));
    lease.locks_.push_back(std::move(lock));
  }
  return lease;
}

namespace {

std::optional<std::string> word_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  if (file >> word) return word;
  return std::nullopt;
}

}  // namespace

nlohmann::json placement(std::span<const int> cores, const std::filesystem::path& sysfs) {
  std::set<std::string> distinct, caches, packages;
  std::multiset<std::string> capacities;
  for (const int core : cores) {
    const std::filesystem::path folder = sysfs / fmt::format("cpu{}", core);
    // Lists of sharing cores identify a core or a cache, unlike ids, which are per package.
    if (const auto shared = word_in(folder / "topology/core_cpus_list")) distinct.insert(*shared);
    if (const auto shared = word_in(folder / "cache/index3/shared_cpu_list"))
      caches.insert(*shared);
    if (const auto shared = word_in(folder / "topology/package_cpus_list"))
      packages.insert(*shared);
    auto capacity = word_in(folder / "cpu_capacity");
    if (!capacity) capacity = word_in(folder / "cpufreq/cpuinfo_max_freq");
    if (capacity) capacities.insert(*capacity);
  }
  nlohmann::json json = nlohmann::json::object();
  if (!distinct.empty()) json["cores"] = distinct.size();
  if (!caches.empty()) json["caches"] = caches.size();
  if (!packages.empty()) json["packages"] = packages.size();
  if (!capacities.empty())
    json["capacities"] = std::vector<std::string>(capacities.begin(), capacities.end());
  return json;
}

Status stay_on(std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores)
    if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    return environment_error("cannot stay on cores {}: {}", fmt::join(cores, ", "),
                             std::strerror(errno));
  return {};
}

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
