#include "device/cpu/code_features.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace hone::device::cpu {
namespace {

using Names = std::vector<std::string>;

// Features that each level adds to the one before.
constexpr std::array<std::string_view, 7> kLevel2{"cx16",   "lahf_lm", "popcnt", "pni",
                                                  "sse4_1", "sse4_2",  "ssse3"};
// "abm" is LZCNT.
constexpr std::array<std::string_view, 8> kLevel3{"avx",  "avx2", "bmi1", "bmi2",
                                                  "f16c", "fma",  "abm",  "movbe"};
constexpr std::array<std::string_view, 5> kLevel4{"avx512f", "avx512bw", "avx512cd", "avx512dq",
                                                  "avx512vl"};

constexpr std::string_view kArm = "aarch64";

// 1 to 4; 0 for any other CPU.
int level_of(std::string_view name) {
  if (name == "generic" || name == "x86-64") return 1;
  constexpr std::string_view kLevel = "x86-64-v";
  if (!name.starts_with(kLevel) || name.size() != kLevel.size() + 1) return 0;
  const int level = name.back() - '0';
  return level >= 2 && level <= 4 ? level : 0;
}

// Whether a compiler may use the feature in a kernel by itself. /proc/cpuinfo lists others too, of
// the kernel and of virtual machines, which differ between machines that run the same code.
bool is_used_by_code(const std::string& feature) {
  static constexpr std::array<std::string_view, 5> kFamilies{"sse", "avx", "amx", "bmi", "ssse"};
  static constexpr std::array<std::string_view, 11> kOthers{
      "pni", "fma",  "f16c",       "popcnt", "abm",      "movbe",
      "aes", "vaes", "vpclmulqdq", "gfni",   "pclmulqdq"};
  return std::ranges::any_of(
             kFamilies, [&](std::string_view family) { return feature.starts_with(family); }) ||
         std::ranges::find(kOthers, feature) != kOthers.end();
}

}  // namespace

std::optional<std::vector<std::string>> code_features(std::string_view name,
                                                      const problem::CpuTarget& host) {
  if (name == kArm) return Names{"asimd"};
  const int level = level_of(name);
  if (level > 0) {
    Names names;
    if (level > 1) names.insert(names.end(), kLevel2.begin(), kLevel2.end());
    if (level > 2) names.insert(names.end(), kLevel3.begin(), kLevel3.end());
    if (level > 3) names.insert(names.end(), kLevel4.begin(), kLevel4.end());
    return names;
  }
  if (name != "host") return std::nullopt;
  if (is_arm(host)) return host.features;
  Names used;
  std::ranges::copy_if(host.features, std::back_inserter(used), is_used_by_code);
  return used;
}

bool is_arm(const problem::CpuTarget& cpu) {
  return std::ranges::find(cpu.features, "asimd") != cpu.features.end();
}

std::string baseline(const problem::CpuTarget& cpu) {
  return is_arm(cpu) ? std::string(kArm) : "x86-64";
}

std::string architecture_level(const problem::CpuTarget& cpu) {
  for (const char* level : {"x86-64-v4", "x86-64-v3"})
    if (missing_features(*code_features(level, cpu), cpu).empty()) return level;
  return baseline(cpu);
}

bool is_foreign(std::string_view name, const problem::CpuTarget& cpu) {
  return name.starts_with(is_arm(cpu) ? "x86-64" : kArm);
}

std::vector<std::string> missing_features(const std::vector<std::string>& needed,
                                          const problem::CpuTarget& cpu) {
  Names missing;
  std::ranges::copy_if(needed, std::back_inserter(missing), [&](const std::string& feature) {
    return std::ranges::find(cpu.features, feature) == cpu.features.end();
  });
  return missing;
}

}  // namespace hone::device::cpu
