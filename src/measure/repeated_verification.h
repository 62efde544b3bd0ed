// Verifies a kernel again and again before it ships. This finds faults that show in one of many
// launches (a race, memory that is not initialised).
#pragma once

#include "base/json_fields.h"
#include "base/result.h"
#include "measure/runner_requests.h"
#include "measure/workload.h"

namespace hone::measure {

// Launches of a kernel that must all be right before it is selected. A fault in one of 50 launches
// is missed by 256 with probability 0.98^256 = 0.6 %.
inline constexpr int kComparedLaunches = 256;

struct RepeatRequest {
  int handle = 0;
  int launches = 1;        // to compare, at most
  double max_seconds = 0;  // begins no further launch after that; the first one always runs

  static void fields(auto& request, auto&& field) {
    field("handle", request.handle);
    field("launches", request.launches);
    field("max_seconds", request.max_seconds);
  }
};

struct Repeated {
  int compared = 0;             // launches; when one is wrong it is the last
  Verification verification{};  // right, or of the wrong one; its message names the launch

  static void fields(auto& repeated, auto&& field) {
    field("compared", repeated.compared);
    field("verification", repeated.verification);
  }
};

// Launches `kernel` on copy 0, alternating between the two sets of operands. Before each launch,
// inputs and read-write buffers are restored and outputs poisoned. After it, the checks are those
// of verification: outputs within the tolerance, guards, inputs. Unwritten elements still hold the
// poison, which is never a right value. Ends with the first wrong launch. A failure only if the
// kernel reports an error.
Result<Repeated> verify_repeatedly(device::Kernel& kernel, Workload& workload,
                                   const RepeatRequest& request);

}  // namespace hone::measure
