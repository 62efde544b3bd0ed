// Knows where cores lie in the machine, and keeps a process on them.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "base/result.h"

namespace hone::device::cpu {

// What makes one set of cores another device than another set of as many: {"cores": threads of
// distinct cores, "caches": last-level caches, "packages": sockets, "capacities": relative speeds,
// ascending}; what `sysfs` does not say is left out. Equal placements on one machine are taken for
// equal devices: a kernel runs on core 1 as on core 0. (Documentation/admin-guide/cputopology.rst
// and Documentation/ABI/testing/sysfs-devices-system-cpu of Linux.)
nlohmann::json placement(std::span<const int> cores,
                         const std::filesystem::path& sysfs = "/sys/devices/system/cpu");

// Keeps the calling thread, and every thread and process it starts from now on, on `cores`. An
// environment error when the system refuses.
Status stay_on(std::span<const int> cores);

}  // namespace hone::device::cpu
