// Registry of providers, kinds of devices and libraries; each is a line of registry.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/library.h"
#include "output/measured_dispatch.h"
#include "provider/compile_worker.h"
#include "provider/list_provider.h"
#include "session/session_options.h"

namespace hone::session {

// A provider as users name it with --provider.
struct RegisteredProvider {
  std::string_view name;
  std::string_view help;  // for hone help providers: "Triton's kernels"
  // The provider's half that runs in a worker process (`hone worker compile`); null for a compiler
  // that is a program in another language.
  Result<std::unique_ptr<provider::CompileWorker>> (*open_compile_worker)(
      const std::string& installation) = nullptr;
  // Opens the list of dispatches on the command line; null if the provider's dispatches are pieces
  // of programs.
  Result<std::unique_ptr<provider::ListProvider>> (*open_list)(const SessionOptions& options) =
      nullptr;
};
std::span<const RegisteredProvider> providers();
// Returns null for an unknown name.
const RegisteredProvider* find_provider(std::string_view name);

// Opens the half of the provider called `name` that runs in a worker process. `installation`: the
// provider's own identifier of one of its compilers. An input error for an unknown name; errors of
// opening the compiler.
Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(
    std::string_view name, const std::string& installation);

// Returns the kinds of devices that candidates run on, without opening any.
std::vector<device::DeviceKind> device_kinds();

// Returns the kinds that a runner opens: those, and the emulator that no command can name
// (device/emulated).
std::vector<device::DeviceKind> runner_device_kinds();

// Returns the libraries that are measured beside the candidates, for every kind of device, without
// opening any.
std::vector<std::unique_ptr<device::Library>> libraries();
// Columns of the closing tables for the libraries of cores, and for those of GPUs.
std::vector<output::LibraryColumn> core_library_columns();
std::vector<output::LibraryColumn> gpu_library_columns();

}  // namespace hone::session
