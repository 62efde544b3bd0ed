// AMD's GPUs as a kind of devices.
#pragma once

#include "device/device.h"
#include "device/gpu/device.h"

namespace hone::device::hip {

// AMD to the device that all vendors share.
gpu::Vendor vendor();

// A place for each GPU that the process sees (gpu::kind_of).
DeviceKind kind();

}  // namespace hone::device::hip
