// An exclusive hold on a GPU among the hone processes of one machine.
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

}  // namespace hone::device::cuda
