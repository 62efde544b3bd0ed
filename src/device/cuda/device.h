// An NVIDIA GPU as a Device: kernels are launched through the driver and timed by its events.
#pragma once

#include <memory>

#include "base/result.h"
#include "device/cuda/gpu.h"
#include "device/device.h"

namespace hone::device::cuda {

// State that is opened once for a GPU and serves its Devices one after the other: context, NVML,
// hone's own kernels. Opening takes most of a second, more than most problems take.
class OpenGpu;

// Errors: those of GpuContext::open. Only for a process that forks no more; all calls to the GPU
// and its devices come from one thread. The caller takes a lease first (kind.h).
Result<std::shared_ptr<OpenGpu>> open_gpu(std::shared_ptr<Driver> driver, const GpuFacts& facts);
Result<std::unique_ptr<Device>> make_device(std::shared_ptr<OpenGpu> gpu);

// The GPU that the driver numbers `index`, opened for one device. Errors: those of Driver::open,
// find_device and open_gpu.
Result<std::unique_ptr<Device>> open_device(int index);
// Opens the GPU that `facts` describe by a driver that is open already.
Result<std::unique_ptr<Device>> open_device(std::shared_ptr<Driver> driver, const GpuFacts& facts);

// Returns the GPU context of a CUDA device; null for a device of another kind.
std::shared_ptr<GpuContext> gpu_of(Device& device);

}  // namespace hone::device::cuda
