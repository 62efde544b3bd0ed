// Exclusive holds on a GPU among the hone processes of one machine: a command's, from before it
// starts anything until it ends, and within it a runner's, while that uses the GPU.
#pragma once

#include <chrono>
#include <filesystem>

#include "base/result.h"
#include "device/cuda/facts.h"
#include "device/lock_file.h"

namespace hone::device::cuda {

// The lock is the GPU's own (by UUID), whatever index a process sees it under. An environment error
// that names the process that holds it. `folder` is for tests; empty means lock_folder().
Result<LockFile> lease(const Facts& facts, std::chrono::milliseconds wait = {},
                       const std::filesystem::path& folder = {});

// As lease(), but for a command: it is refused at once if another command has the GPU. A runner has
// a lock of its own because it may outlive its command by moments.
Result<LockFile> lease_for_command(const Facts& facts, const std::filesystem::path& folder = {});

}  // namespace hone::device::cuda
