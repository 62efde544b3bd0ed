#include "device/cpu/placement.h"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hone::device::cpu {
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

}  // namespace hone::device::cpu
