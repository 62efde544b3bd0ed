// NVIDIA's GPUs as a kind of devices.
#pragma once

#include "device/cuda/gpu.h"
#include "device/gpu/device.h"
#include "device/gpu/lease.h"

namespace hone::device::cuda {

// NVIDIA to the device that all vendors share.
gpu::Vendor vendor();

// A place for each GPU that the process sees (gpu::kind_of).
DeviceKind kind();

}  // namespace hone::device::cuda
