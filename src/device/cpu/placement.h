// Describes where cores lie in the machine, and pins a process to them.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "base/result.h"

namespace hone::device::cpu {

// Describes what distinguishes a set of cores from another of the same size: {"cores": threads of
// distinct cores, "caches": last-level caches, "packages": sockets, "capacities": relative speeds,
// ascending}. Facts that `sysfs` does not state are omitted. Equal placements on one machine count
// as equal devices: a kernel runs on core 1 as on core 0.
// (Documentation/admin-guide/cputopology.rst and Documentation/ABI/testing/sysfs-devices-system-cpu
// of Linux.)
nlohmann::json placement(std::span<const int> cores,
                         const std::filesystem::path& sysfs = "/sys/devices/system/cpu");

// Pins the calling thread, and every thread and process it starts from now on, to `cores`. An
// environment error if the system refuses.
Status stay_on(std::span<const int> cores);

}  // namespace hone::device::cpu
