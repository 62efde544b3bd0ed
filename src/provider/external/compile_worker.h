// The workers' half: runs a manifest's build command and fits the PTX to the dispatch's launch.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "provider/compile_worker.h"

namespace hone::external {

// `manifest`: its path, given where other providers are given an installation. Errors of
// read_external_kernel(). Jobs of it (provider/jobs.h):
//   prepare  "flags": ["--target=sm_90", "--shared=232448"], blob: what the dispatch states
//   compile  ExternalProvider::payload_of()'s, for PTX
Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(const std::string& manifest);

// Returns the flags of the job prepare for a device with `target` and `shared_bytes` of memory for
// a workgroup.
std::vector<std::string> worker_flags(const std::string& target, std::int64_t shared_bytes);

}  // namespace hone::external
