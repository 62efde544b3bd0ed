// A kernel compared again and again: what goes wrong in one of many launches (a race, memory that
// is not initialised) is found before the kernel ships.
#pragma once

#include "base/json_fields.h"
#include "base/result.h"
#include "measure/runner_requests.h"
#include "measure/workload.h"

namespace hone::measure {

// Launches of one kernel that must have been right before it is selected. What strikes in one of 50
// launches is missed by 256 with probability 0.98^256 = 0.6 %.
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

// Launches `kernel` on copy 0, by turns on the two sets of operands, inputs and read-write buffers
// restored and outputs poisoned before each launch, and compares each time what verification
// compares: outputs within the tolerance, guards, inputs; what is left unwritten still holds the
// poison, which is no right value. Ends with the first wrong one. A failure only when the kernel
// reports an error.
Result<Repeated> verify_repeatedly(device::Kernel& kernel, Workload& workload,
                                   const RepeatRequest& request);

}  // namespace hone::measure
