// The places that a command measures on: this machine's cores or some of its GPUs.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/toolchain.h"
#include "device/lock_file.h"
#include "device/place.h"

namespace hone::cli {

void add_device_option(CLI::App& command, std::string& device);

// The places that `device` ("cpu", "cuda:1", "cuda:0,2" or "cuda:0,cuda:2", bare numbers for the
// target's kind, or nothing: the first of the target's kind) names, with these cores. Several are
// of one kind (device::Facts::identity), since they share results. Where the target is left at
// "host" it becomes the GPUs'. Input errors: no such device, one named twice, devices of several
// kinds, of another kind than the target, an AMD GPU. Environment errors where the driver is
// missing or too old.
Result<std::vector<device::Place>> choose_places(const std::string& device,
                                                 ToolchainOptions& toolchain,
                                                 const std::vector<int>& cores);

// The one of choose_places, for a command that takes no more; an input error where several are
// named.
Result<device::Place> choose_place(const std::string& device, ToolchainOptions& toolchain,
                                   const std::vector<int>& cores);

// What --device names where nothing else is said and a GPU is as good as the cores: the first GPU
// that hone can measure on, else the cores.
std::string gpu_or_cores();
// Returns the device that runs code of these formats (provider::Artifact::format): the first GPU
// when one of them is a GPU's, else empty.
std::string device_for_code(const std::set<std::string>& formats);

// Holds them for the command, from before it starts anything: who is refused must not disturb who
// measures.
Result<std::vector<device::LockFile>> lease(std::span<const device::Place> places);

}  // namespace hone::cli
