#include "device/cpu/target.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"

namespace hone::device::cpu {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

}  // namespace

std::optional<std::string> system_text(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return std::nullopt;
  return text->substr(0, text->find_last_not_of(kSpace) + 1);
}

std::optional<double> system_number(const std::filesystem::path& path) {
  const auto text = system_text(path);
  if (!text) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  if (end == text->c_str()) return std::nullopt;
  return value;
}

std::string value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return std::string(trimmed(line.substr(colon + 1)));
  }
  return {};
}

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

// The value of a key as x86 kernels write it, else as Arm kernels do.
std::string either_value(std::string_view cpuinfo, std::string_view x86, std::string_view arm) {
  const std::string value = value_of(cpuinfo, x86);
  return value.empty() ? value_of(cpuinfo, arm) : value;
}

// Arm kernels name no model, but its numbers.
std::string model_in(std::string_view cpuinfo) {
  const std::string name = value_of(cpuinfo, "model name");
  const std::string implementer = value_of(cpuinfo, "CPU implementer");
  if (!name.empty() || implementer.empty()) return name;
  return fmt::format("Arm {} part {}", implementer, value_of(cpuinfo, "CPU part"));
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
  target.cpu = model_in(cpuinfo);
  std::istringstream words(either_value(cpuinfo, "flags", "Features"));
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
#if defined(__aarch64__)
  // Emulators of user programs show the cpuinfo of the processor that they run on.
  if (!has(target.features, "asimd"))
    target = target_from_cpuinfo("CPU implementer: none\nFeatures: fp asimd\n");
#endif
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
  const std::string flags = either_value(cpuinfo, "flags", "Features");
  return {
      {"kind", "cpu"},
      {"model", model_in(cpuinfo)},
      {"family", either_value(cpuinfo, "cpu family", "CPU architecture")},
      {"model_number", either_value(cpuinfo, "model", "CPU variant")},
      {"stepping", either_value(cpuinfo, "stepping", "CPU revision")},
      {"microcode", value_of(cpuinfo, "microcode")},
      {"features", content_hash(flags)},
      {"cores", available_cores().size()},
      {"governor", system_text(std::string(kCpuFolder) + "/cpufreq/scaling_governor").value_or("")},
      {"kernel", system.release},
      {"hypervisor", (" " + flags + " ").find(" hypervisor ") != std::string::npos}};
}

}  // namespace hone::device::cpu
