// The timing loop: several kernels, interleaved.
#pragma once

#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "measure/runner_requests.h"
#include "measure/workload.h"

namespace hone::measure {

struct Participant {
  int handle = 0;
  device::Kernel* kernel = nullptr;
  Workload* workload = nullptr;
};

// Warms each participant up, then samples in rounds: each participant that is not done takes a
// sample per round, in random order. The sentinel goes on until the others are done, with at least
// one sample. So every sample has one of the sentinel in its round. Results are in the order of
// `participants`. An input error for an impossible protocol or no participants; a failure that
// names the handle if a kernel reports an error.
Result<MeasureResult> sample_interleaved(device::Device& device,
                                         const std::vector<Participant>& participants,
                                         const MeasureRequest& request);

}  // namespace hone::measure
