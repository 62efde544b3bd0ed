// A GPU as a Device: kernels are launched through the driver and timed by its events.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/gpu/gpu.h"
#include "device/gpu/own_kernels.h"

namespace hone::device::gpu {

// Clocks, power and heat of a GPU.
struct Monitor {
  std::function<GpuState()> state;
  std::function<std::optional<double>()> megahertz;  // of the units, now
  // Whether something other than the power cap holds the clock down: a large product runs there.
  std::function<bool()> is_slowed;
  // Below this clock something holds the GPU down; 0: any clock will do.
  double least_megahertz = 0;
};

// Everything that a vendor's folder knows and the shared device asks for.
struct Vendor {
  std::string_view kind;                             // Device::kind()
  bool (*loads)(std::string_view format) = nullptr;  // Artifact::format
  std::string_view formats;                          // "a CUDA GPU runs PTX and cubins"
  std::optional<Monitor> (*monitor)(const GpuFacts& facts) = nullptr;  // nullopt: unknown
  OwnKernels (*own_kernels)(const GpuContext& gpu) = nullptr;
  // `library`: device::Address::library. Environment errors: the driver is missing, too old, or
  // finds no GPU.
  Result<std::shared_ptr<Driver>> (*open_driver)(const std::string& library) = nullptr;
  // All GPUs that the process sees.
  Result<std::vector<GpuFacts>> (*list)(Driver& driver) = nullptr;
  // The place of each, on a host with these cores.
  Result<std::vector<Place>> (*places)(const std::vector<int>& cores) = nullptr;
  bool (*runs)(const std::string& target) = nullptr;  // DeviceKind::runs
};

// State that is opened once for a GPU and serves its Devices one after the other: context, monitor,
// hone's own kernels. Opening takes most of a second, more than most problems take.
class OpenGpu;

// Errors: those of GpuContext::open. Only for a process that forks no more; all calls to the GPU
// and its devices come from one thread. The caller takes a lease first (lease.h).
Result<std::shared_ptr<OpenGpu>> open_gpu(const Vendor& vendor, std::shared_ptr<Driver> driver,
                                          const GpuFacts& facts);
Result<std::unique_ptr<Device>> make_device(std::shared_ptr<OpenGpu> gpu);

// Opens the GPU that `facts` describe, for one device.
Result<std::unique_ptr<Device>> open_device(const Vendor& vendor, std::shared_ptr<Driver> driver,
                                            const GpuFacts& facts);

// Returns the context of a GPU of this kind; null for any other device.
std::shared_ptr<GpuContext> gpu_of(Device& device, std::string_view kind);

}  // namespace hone::device::gpu
