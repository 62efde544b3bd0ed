// What a problem's kernels run on and must give, made before they are loaded: on the runner's own
// thread, or ahead of its turn while another problem's kernels are measured.
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

// One problem that is prepared on a thread of its own. Not for kernels that run on the host's
// cores, which it would disturb.
class ProblemAhead {
 public:
  // Begins, unless it would take more than a quarter of the memory that is free; an earlier one
  // that nobody took is waited for and dropped.
  void begin(const ProblemRequest& request, OpenDevice open);
  // Hands over the problem that was begun, once it is ready; nothing where it is another.
  std::optional<Result<PreparedProblem>> take(const ProblemRequest& request);

 private:
  std::string key_;
  std::future<Result<PreparedProblem>> prepared_;
};

}  // namespace hone::measure
