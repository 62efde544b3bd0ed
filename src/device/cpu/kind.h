// The host's cores as a kind of devices.
#pragma once

#include "device/device_kind.h"

namespace hone::device::cpu {

// One place: the cores that it is asked for together. Opening and leasing it: device.h,
// core_lease.h. An environment error where /proc/cpuinfo cannot be read.
DeviceKind kind();

}  // namespace hone::device::cpu
