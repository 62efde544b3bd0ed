// The device that a command measures on: this machine's CPU or one of its GPUs.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/toolchain.h"
#include "device/cuda/facts.h"

namespace hone::cli {

void add_device_option(CLI::App& command, std::string& device);

// The GPU that `device` ("cpu", "cuda:1", a bare number for the target's kind, or nothing: the
// target's kind) names; none for the CPU. Where the target is left at "host" it becomes the GPU's.
// Input errors: no such device, one of another kind than the target, an AMD GPU. Environment errors
// where the driver is missing or too old.
Result<std::optional<device::cuda::Facts>> choose_gpu(const std::string& device,
                                                      ToolchainOptions& toolchain);

}  // namespace hone::cli
