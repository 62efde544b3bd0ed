// The host's cores as a kind of devices.
#pragma once

#include "device/device_kind.h"

namespace hone::device::cpu {

// Kind whose only place is the set of requested cores. For opening and leasing, see device.h and
// core_lease.h. An environment error if /proc/cpuinfo cannot be read.
DeviceKind kind();

}  // namespace hone::device::cpu
