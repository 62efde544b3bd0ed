// The CPU as a Device: kernels are called directly from hone's own pinned threads.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "device/device.h"

namespace hone::device::cpu {

// A device of one thread per core in `cores`; the calling thread is the first of them and stays
// pinned while the device lives. All calls to it come from that thread. Errors: as
// ThreadPool::create. Taking a CoreLease first is the caller's business.
Result<std::unique_ptr<Device>> open_device(std::span<const int> cores);

}  // namespace hone::device::cpu
