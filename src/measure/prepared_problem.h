// Prepares a problem's inputs and expected outputs before its kernels are loaded: on the runner's
// own thread, or ahead of its turn while another problem's kernels are measured.
#pragma once

#include <array>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "device/device.h"
#include "measure/launch_operands.h"
#include "measure/runner_requests.h"

namespace hone::measure {

struct PreparedProblem {
  std::array<LaunchOperands, kOperandSets> operands;
  ExpectedOutputs expected;  // empty where kernels are only timed
  std::string reference;     // ProblemReady::reference
};

using OpenDevice = std::function<Result<std::unique_ptr<device::Device>>(const device::Address&)>;

// Generates the inputs and computes the references, or runs `request.reference` on the host's
// cores, which `open` opens. Inputs are drawn again where an element of the reference is not
// finite. Errors as Runner::set_problem().
Result<PreparedProblem> prepare_problem(const ProblemRequest& request, const OpenDevice& open);

// Prepares a problem on a thread of its own. Not for kernels that run on the host's cores, which it
// would disturb.
class ProblemAhead {
 public:
  // Begins, unless it would take more than a quarter of the free memory. Waits for an earlier
  // problem that nobody took, and drops it.
  void begin(const ProblemRequest& request, OpenDevice open);
  // Returns the problem that was begun, once it is ready; nullopt if it is another one.
  std::optional<Result<PreparedProblem>> take(const ProblemRequest& request);

 private:
  std::string key_;
  std::future<Result<PreparedProblem>> prepared_;
};

}  // namespace hone::measure
