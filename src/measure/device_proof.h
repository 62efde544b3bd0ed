// Verification on a device with memory of its own: outputs that the device finds right need not be
// fetched. All others are fetched, and the host compares them byte for byte (workload.h).
#pragma once

#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "measure/buffers.h"
#include "measure/runner_requests.h"
#include "measure/verification.h"

namespace hone::measure {

struct Expected;

class DeviceProof {
 public:
  DeviceProof() = default;
  // Puts the expected outputs into the device's memory. Where an output is written in part only,
  // there is no proof, and the host judges.
  static Result<DeviceProof> create(device::Device& device, const Buffers& buffers,
                                    const std::vector<Expected>& expected);

  // Whether copy 0, after a launch over poison of `variant`, is known to be right: guards and
  // inputs as they were, every element of every output within its binding's tolerance and no NaN.
  // `checks` gets one comparison per output then. False says only that the host must look.
  Result<bool> is_right(const Buffers& buffers, int variant,
                        const std::vector<Tolerance>& tolerances,
                        std::vector<OutputCheck>& checks) const;

 private:
  struct Output {
    std::size_t binding = 0;
    problem::TensorType type;
    device::Memory bytes;
  };
  device::Device* device_ = nullptr;  // nullptr: no proof
  std::vector<Output> outputs_;
};

}  // namespace hone::measure
