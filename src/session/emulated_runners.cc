#include "session/emulated_runners.h"

#include <algorithm>
#include <utility>

#include "device/emulated/kind.h"
#include "emulator/code_object.h"
#include "session/places.h"

namespace hone::session {

using device::emulated::kTarget;

Status check_verify_emulated(const SessionOptions& options) {
  if (!options.compile_only)
    return input_error(
        "--verify-emulated verifies what --compile-only compiles: add --compile-only --target {}; "
        "where the GPU is, hone verifies every candidate on it",
        kTarget);
  if (options.tuning.part.is_shard())
    return input_error(
        "--shard {} and --verify-emulated exclude each other: leave one out; --dispatch NAME "
        "selects dispatches",
        to_string(options.tuning.part));
  const auto gpu = gpu_of(options.toolchain);
  if (!gpu || gpu->arch != kTarget)
    return input_error(
        "--verify-emulated --target {}: the emulator knows {} only (MI300X, MI300A, MI325X){}; "
        "use --target {}, or leave --verify-emulated out",
        options.toolchain.target, kTarget,
        gpu && gpu->arch == "gfx950" ? ", since LLVM 19, by which it reads code, lacks gfx950" : "",
        kTarget);
  return emulator::check_disassembler();
}

Result<std::optional<EmulatedRunners>> EmulatedRunners::open(const SessionOptions& options,
                                                             const Toolchain& toolchain,
                                                             store::Store& store) {
  if (!options.verify_emulated) return std::nullopt;
  HONE_ASSIGN(std::vector<int> cores, choose_cores(options.cores));
  cores.resize(std::min(cores.size(), static_cast<std::size_t>(std::max(1, toolchain.jobs()))));
  tune::Options of_device = options.tuning;
  of_device.places = {device::emulated::place_of(cores)};
  of_device.cache = measure::CacheMode::kWarm;
  EmulatedRunners runners;
  HONE_ASSIGN(runners.emulator_.device, store.intern(device_row(of_device)));
  for (const int core : cores) {
    const device::Place place = device::emulated::place_of({core});
    runners.runners_.emplace_back(toolchain.make_runner(place.address, options.tuning.environment),
                                  options.kernel_seconds);
    runners.emulator_.lanes.push_back({&runners.runners_.back(), place.address});
  }
  return std::optional(std::move(runners));
}

}  // namespace hone::session
