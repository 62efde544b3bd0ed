// An NVIDIA GPU as a Device: kernels are launched through the driver and timed by its events.
#pragma once

#include <memory>

#include "base/result.h"
#include "device/cuda/facts.h"
#include "device/cuda/gpu_context.h"
#include "device/device.h"

namespace hone::device::cuda {

// The GPU that the driver numbers `index`. Errors: those of Driver::open, find_device and
// GpuContext::open. Only in a process that forks no more; all calls to the device come from one
// thread. Taking a lease first (lease.h) is the caller's business.
Result<std::unique_ptr<Device>> open_device(int index);
// The same by a driver that is open already.
Result<std::unique_ptr<Device>> open_device(std::shared_ptr<Driver> driver, const Facts& facts);

// What such a device runs on; null for a device of another kind.
std::shared_ptr<GpuContext> gpu_of(Device& device);

}  // namespace hone::device::cuda
