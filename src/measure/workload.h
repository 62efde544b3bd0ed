// What handles of a runner run on: buffers, and what must be in them afterwards.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "measure/buffers.h"
#include "measure/device_proof.h"
#include "measure/runner_requests.h"
#include "measure/verification.h"

namespace hone::measure {

struct Expected {
  std::vector<std::byte> bytes;  // of the whole buffer
  std::vector<bool> written;     // elements of a write-only output that must be written
};

struct Workload {
  Buffers buffers;
  std::vector<Expected> expected;  // by binding; empty bytes where nothing is expected (inputs)
  Tolerance tolerance;
  DeviceProof proof = {};
  // Where the rotation goes on: shared by all handles, so that none finds its copy warm because
  // another has just used it.
  std::size_t next = 0;
};

// First contents of every binding of a dispatch (inputs.h); empty for write-only ones. An input
// error for a binding without a static size.
Result<std::vector<std::vector<std::byte>>> first_contents(const problem::Dispatch& dispatch,
                                                           std::uint64_t seed);

// Buffers for `bindings` in as many copies as the cache mode asks for. `note` is set when they are
// fewer than a cold cache needs. `device`: as in Buffers::create.
Result<Buffers> make_buffers(const std::vector<problem::Binding>& bindings,
                             std::vector<std::vector<std::byte>> initial,
                             const ProblemRequest& request, std::string& note,
                             device::Device* device = nullptr);

// What a buffer of `bytes` is compared as: the binding's tensor, or where it is larger than that
// all of it, as one row of elements.
problem::TensorType type_of(const problem::Binding& binding, std::size_t bytes);

// One output that a reference computed: all elements of its tensor written, the rest of a larger
// buffer left as prepared in copy 0. The output's binding gets `bytes`.
std::vector<Expected> expect_output(const Buffers& buffers, std::size_t binding,
                                    std::vector<std::byte> bytes);

// What a trusted kernel gives on the buffers: run twice over different poison, so that the elements
// it writes are known too. A failure when it breaks a guard or changes an input.
Result<std::vector<Expected>> run_reference(device::Kernel& kernel, Buffers& buffers);

// Runs a kernel on copy 0, twice over different poison, and compares: outputs, written elements,
// guards, inputs. A failure only when the kernel reports an error.
Result<Verification> verify_kernel(device::Kernel& kernel, Workload& workload);

}  // namespace hone::measure
