// The emulator of gfx942 as a kind of devices: it verifies code for an MI300X without one. Commands
// do not name it and hone lists it nowhere; --verify-emulated alone opens it.
#pragma once

#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/place.h"

namespace hone::device::emulated {

// Device::kind() of these devices.
inline constexpr std::string_view kKind = "emulated";
// Target that code for it is compiled for.
inline constexpr std::string_view kTarget = "gfx942";

// Opens a device for each runner that asks; there is nothing to lease. Its devices time nothing.
DeviceKind kind();

// The place of an emulated GPU whose host has these cores. Its facts say that it is emulated, and
// by which revision of the emulator: verdicts of others do not count.
Place place_of(std::vector<int> cores);

}  // namespace hone::device::emulated
