// Registers what this program compiles with, runs on and compares with: each provider, each kind of
// devices and each library is a line of registry.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device_kind.h"
#include "device/library.h"
#include "output/measured_dispatch.h"
#include "provider/compile_worker.h"
#include "provider/list_provider.h"
#include "session/session_options.h"

namespace hone::session {

// A provider as users name it with --provider.
struct Provider {
  std::string_view name;
  std::string_view help;  // whose kernels: "Triton's"
  // Its half that runs in a worker process (`hone worker compile`); null for a compiler that is a
  // program in another language.
  Result<std::unique_ptr<provider::CompileWorker>> (*open_compile_worker)(
      const std::string& installation) = nullptr;
  // The dispatches that the command line lists for it, where its dispatches are no pieces of
  // programs; null for others.
  Result<std::unique_ptr<provider::ListProvider>> (*open_list)(const SessionOptions& options) =
      nullptr;
};
std::span<const Provider> providers();
// Null for a name that none has.
const Provider* find_provider(std::string_view name);

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
