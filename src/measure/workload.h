// Buffers that a runner's handles run on, and their expected contents afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "measure/buffers.h"
#include "measure/device_proof.h"
#include "measure/inputs.h"
#include "measure/runner_requests.h"
#include "measure/verification.h"

namespace hone::measure {

struct Expected {
  std::vector<std::byte> bytes;  // of the whole buffer
  std::vector<bool> written;     // elements of a write-only output that must be written
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

// Compares copy 0, as the host sees it after a launch of `variant`: guards, inputs, and each output
// into `verification.outputs` (the worst of several launches).
Status compare_launch(const Workload& workload, int variant, Verification& verification);
// Calls the verification wrong for each wrong output.
void judge_outputs(Verification& verification);
// Describes in words what counts as correct for each output.
std::string describe_tolerances(const Workload& workload);

// Runs a kernel on copy 0, once for each variant, and compares: outputs, written elements, guards,
// inputs. A failure only when the kernel reports an error.
Result<Verification> verify_kernel(device::Kernel& kernel, Workload& workload);

}  // namespace hone::measure
