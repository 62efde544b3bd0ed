// A Device that runs code objects of gfx942 on the emulator (emulator/launch.h).
#pragma once

#include <memory>

#include "device/device.h"

namespace hone::device::emulated {

// Makes a device with memory of its own, as a GPU's: a kernel may access its allocations only.
//
// Every second launch of a kernel runs the waves of a workgroup in reversed order, so that a race
// shows as a wrong result. Reads beyond local memory give NaN. A kernel's fault loses the device,
// as on a GPU. Environment errors where the emulator cannot judge the code: an instruction or
// metadata that it does not know, no disassembler. It does not bound a launch: its caller ends the
// process.
std::unique_ptr<Device> make_device();

}  // namespace hone::device::emulated
