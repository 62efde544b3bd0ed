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

// Warms each participant up, then goes in rounds: in every round each of those not yet done takes
// one sample, in random order. The sentinel goes on until the others are done, and takes one sample
// at least, so that every sample has one of it in its round. Results are in the order of
// `participants`. An input error for an impossible protocol or no participants; a failure that
// names the handle when a kernel reports an error.
Result<MeasureResult> sample_interleaved(device::Device& device,
                                         const std::vector<Participant>& participants,
                                         const MeasureRequest& request);

}  // namespace hone::measure
