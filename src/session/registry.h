// Registers what this program compiles with, runs on and compares with: each provider, each kind of
// devices and each library is a line of registry.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device_kind.h"
#include "device/library.h"
#include "output/measured_dispatch.h"
#include "provider/compile_worker.h"

namespace hone::session {

// The half of the provider called `name` that runs in a worker process; `installation` is the
// provider's own word for which of its compilers. An input error for a name that none has, else
// what opening the compiler gives.
Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(
    std::string_view name, const std::string& installation);

// What candidates run on. Nothing is opened yet.
std::vector<device::DeviceKind> device_kinds();

// What is measured beside the candidates, for every kind of device; nothing is opened yet.
std::vector<std::unique_ptr<device::Library>> libraries();
// How closing tables call those for cores, and those for GPUs.
std::vector<output::LibraryColumn> core_library_columns();
std::vector<output::LibraryColumn> gpu_library_columns();

}  // namespace hone::session
