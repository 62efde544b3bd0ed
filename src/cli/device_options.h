// The devices that a command measures on: this machine's CPU or some of its GPUs.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/toolchain.h"
#include "device/cuda/facts.h"
#include "device/lock_file.h"

namespace hone::cli {

// Every GPU of NVIDIA's that this machine has. Environment errors where the driver is missing, too
// old or finds none.
Result<std::vector<device::cuda::Facts>> all_gpus();

void add_device_option(CLI::App& command, std::string& device);

// The GPUs that `device` ("cpu", "cuda:1", "cuda:0,2" or "cuda:0,cuda:2", bare numbers for the
// target's kind, or nothing: the first of the target's kind) names; none for the CPU. Several are
// of one kind (device::cuda::device_identity), since they share results. Where the target is left
// at "host" it becomes the GPUs'. Input errors: no such device, one named twice, devices of several
// kinds, of another kind than the target, an AMD GPU. Environment errors where the driver is
// missing or too old.
Result<std::vector<device::cuda::Facts>> choose_gpus(const std::string& device,
                                                     ToolchainOptions& toolchain);

// The one GPU of choose_gpus, for a command that takes no more; an input error where several are
// named.
Result<std::optional<device::cuda::Facts>> choose_gpu(const std::string& device,
                                                      ToolchainOptions& toolchain);

// Holds them for the command, from before it starts anything: who is refused must not disturb who
// measures.
Result<std::vector<device::LockFile>> lease_gpus(std::span<const device::cuda::Facts> gpus);

}  // namespace hone::cli
