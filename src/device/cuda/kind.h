// NVIDIA's GPUs as a kind of devices.
#pragma once

#include <vector>

#include "device/cuda/facts.h"
#include "device/device_kind.h"

namespace hone::device::cuda {

// A place for each GPU that the process sees. Opening one leases it (leased_devices.h). Errors of
// places(): those of Driver::open; of open(): those of LeasedDevices::open.
DeviceKind kind();

// The place of a GPU with these facts from the driver.
Place place_of(const Facts& facts, std::vector<int> cores);

}  // namespace hone::device::cuda
