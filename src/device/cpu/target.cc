#include "device/cpu/target.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/hash.h"
#include "device/cpu/system_files.h"

namespace hone::device::cpu {
namespace {

constexpr char kCpuFolder[] = "/sys/devices/system/cpu/cpu0";

// The size of cpu0's data or unified cache of one level. If sysfs has none, the C library's value;
// 0 if neither knows.
std::int64_t cache_bytes(int level) {
  for (int index = 0; index < 10; ++index) {
    const std::string folder = fmt::format("{}/cache/index{}/", kCpuFolder, index);
    const auto type = system_text(folder + "type");
    if (!type) break;
    if (*type != "Instruction" && system_number(folder + "level") == level)
      return parse_cache_size(system_text(folder + "size").value_or(""));
  }
  constexpr int kNames[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  return std::max(0L, sysconf(kNames[level - 1]));
}

bool has(const std::vector<std::string>& features, std::string_view name) {
  return std::ranges::count(features, name) > 0;
}

}  // namespace

std::int64_t parse_cache_size(std::string_view text) {
  std::int64_t value = 0;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9' && value < (std::int64_t{1} << 40)) {
    value = value * 10 + (text[0] - '0');
    text.remove_prefix(1);
  }
  if (text.empty()) return value;
  if (text == "K") return value << 10;
  if (text == "M") return value << 20;
  if (text == "G") return value << 30;
  return 0;
}

problem::CpuTarget target_from_cpuinfo(std::string_view cpuinfo) {
  problem::CpuTarget target;
  target.cpu = value_of(cpuinfo, "model name");
  std::string flags = value_of(cpuinfo, "flags");
  if (flags.empty()) flags = value_of(cpuinfo, "Features");  // as Arm kernels call them
  std::istringstream words(flags);
  for (std::string word; words >> word;) target.features.push_back(word);
  if (has(target.features, "avx512f")) {
    target.vector_bits = 512;
    target.vector_registers = 32;
  } else if (has(target.features, "avx2")) {
    target.vector_bits = 256;
  } else if (has(target.features, "asimd")) {
    target.vector_registers = 32;
  }
  return target;
}

Result<problem::CpuTarget> detect_target() {
  const auto cpuinfo = system_text("/proc/cpuinfo");
  if (!cpuinfo)
    return environment_error("cannot read /proc/cpuinfo, which says what this CPU can do");
  problem::CpuTarget target = target_from_cpuinfo(*cpuinfo);
  if (const auto bytes = cache_bytes(1); bytes > 0) target.l1d_bytes = bytes;
  if (const auto bytes = cache_bytes(2); bytes > 0) target.l2_bytes = bytes;
  target.l3_bytes = cache_bytes(3);
  target.cores = std::max(1, static_cast<int>(available_cores().size()));
  return target;
}

std::vector<int> available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

nlohmann::json device_identity() {
  const std::string cpuinfo = system_text("/proc/cpuinfo").value_or("");
  utsname system{};
  uname(&system);
  const std::string flags = value_of(cpuinfo, "flags");
  return {
      {"kind", "cpu"},
      {"model", value_of(cpuinfo, "model name")},
      {"family", value_of(cpuinfo, "cpu family")},
      {"model_number", value_of(cpuinfo, "model")},
      {"stepping", value_of(cpuinfo, "stepping")},
      {"microcode", value_of(cpuinfo, "microcode")},
      {"features", content_hash(flags)},
      {"cores", available_cores().size()},
      {"governor", system_text(std::string(kCpuFolder) + "/cpufreq/scaling_governor").value_or("")},
      {"kernel", system.release},
      {"hypervisor", (" " + flags + " ").find(" hypervisor ") != std::string::npos}};
}

}  // namespace hone::device::cpu
