// Buffers that a runner's handles run on, and their expected contents afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "device/device.h"
#include "measure/buffers.h"
#include "measure/inputs.h"
#include "measure/runner_requests.h"
#include "measure/verification.h"

namespace hone::measure {

struct Expected {
  std::vector<std::byte> bytes;  // of the whole buffer
  std::vector<bool> written;     // elements of a write-only output that must be written
};

// Verification on a device with memory of its own: outputs that the device finds right need not be
// fetched. All others are fetched, and the host compares them byte for byte.
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

// Expected results of a launch over the contents of one variant (Buffers::prepare).
struct VerifiedLaunch {
  std::vector<Expected> expected;     // by binding; empty bytes where nothing is expected (inputs)
  std::vector<Tolerance> tolerances;  // by binding
  DeviceProof proof = {};
};

struct Workload {
  Buffers buffers;
  // Launches by variant, which is an operand set (inputs.h). The second exposes a kernel that keeps
  // something from one launch for the next, or reads less of its operands than they have.
  std::array<VerifiedLaunch, kOperandSets> launches = {};
  // The operand set with which the rotation goes on: shared by all handles, so that none finds its
  // copy warm because another has just used it.
  std::size_t next = 0;
};

// Tensor type by which a buffer of `bytes` is compared: the binding's, or, if the buffer is larger,
// all of it as one row of elements.
problem::TensorType type_of(const problem::Binding& binding, std::size_t bytes);

// Notes which elements of write-only outputs of copy 0, launched over poison of `variant`, have
// changed; flags already set stay set.
Status add_all_written(Buffers& buffers, int variant, std::vector<std::vector<bool>>& written);

// Adds the faults in the guards and inputs of copy 0 after a launch of `variant`.
void check_guards(const Buffers& buffers, int variant, Verification& verification);

// Runs a kernel on copy 0, once for each variant, and compares: outputs, written elements, guards,
// inputs. A failure only when the kernel reports an error.
Result<Verification> verify_kernel(device::Kernel& kernel, Workload& workload);

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
