// What of this machine disturbs measuring, and where results go, for hone doctor.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/doctor_finding.h"
#include "device/machine_state.h"

namespace hone::cli {

// Cores that a control group allows, from the text of its cpu.max ("50000 100000": half a core of
// time in each period); nothing for "max" and for anything else.
std::optional<double> allowed_cores(std::string_view cpu_max);

// Cores and affinity, frequency governor, turbo, simultaneous threads, control groups, memory, what
// else runs (looked at for 0.3 s).
std::vector<Finding> check_machine_for_measuring();
// The findings about background load, stolen time and governors in two samples' difference.
std::vector<Finding> findings_of(const device::MachineState& state);
// Space in the store's folder and in the one for temporary files, and whether the store lies on a
// file system of the network.
std::vector<Finding> check_storage(const std::filesystem::path& store);

}  // namespace hone::cli
