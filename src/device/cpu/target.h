// The CPU that hone runs on: what code is compiled for, and which machine it is.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/target.h"

namespace hone::device::cpu {

// The text of a small file of /proc or /sys without trailing white space; nullopt if it cannot be
// read.
std::optional<std::string> system_text(const std::filesystem::path& path);
// Its first number.
std::optional<double> system_number(const std::filesystem::path& path);
// The value of the first line "key : value" or "key: value"; empty when there is none.
std::string value_of(std::string_view text, std::string_view key);

// The target as this machine states it: /proc/cpuinfo's flags, the caches of
// /sys/devices/system/cpu/cpu0/cache (sysconf where that is missing), the cores this process may
// run on. An environment error when /proc/cpuinfo cannot be read.
Result<problem::CpuTarget> detect_target();

// As detect_target(), but from the text of a cpuinfo file, for the first processor in it; caches
// and cores keep their defaults.
problem::CpuTarget target_from_cpuinfo(std::string_view cpuinfo);

// "96K", "2M", "1024" -> bytes, as sysfs writes cache sizes; 0 for anything else.
std::int64_t parse_cache_size(std::string_view text);

// Cores this process may run on (sched_getaffinity), ascending.
std::vector<int> available_cores();

// Device identity: {"kind": "cpu", "model", "family", "model_number", "stepping", "microcode",
// "features" (a hash), "cores", "governor", "kernel", "hypervisor"}. Two measurements compare only
// under equal identities.
nlohmann::json device_identity();

}  // namespace hone::device::cpu
