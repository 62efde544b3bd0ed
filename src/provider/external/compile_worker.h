// The workers' half: runs a manifest's build command, and fits PTX to the dispatch's launch.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "provider/compile_worker.h"

namespace hone::external {

// `manifest`: its path, given where other providers are given an installation. Errors of
// read_external_kernel(). It prepares what a dispatch states with worker_flags(), and compiles
// ExternalProvider::payload_of()'s payloads to PTX, or to the AMD code object that the build makes.
Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(const std::string& manifest);

// Returns the flags to prepare with for a device with `target` and `shared_bytes` of memory for
// a workgroup.
std::vector<std::string> worker_flags(const std::string& target, std::int64_t shared_bytes);

}  // namespace hone::external
