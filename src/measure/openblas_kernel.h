// OpenBLAS's sgemm of a dispatch's root contraction, as a kernel beside the candidates.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "device/device.h"
#include "measure/launch_operands.h"
#include "measure/runner_requests.h"
#include "problem/operation.h"
#include "provider/vendor/openblas.h"

namespace hone::measure {

// How a contraction maps to calls of sgemm.
struct SgemmPlan {
  provider::vendor::Sgemm shape;
  std::int64_t batches = 1;  // calls, on matrices that follow one another
  bool swapped = false;  // the output is stored n x m: C' = B' A', first operand is the right one
};

// An input error when the operation is no static floating-point (batch) matmul with leading batch
// dimensions.
Result<SgemmPlan> plan_sgemm(const problem::Operation& operation);

struct OpenBlasParts {
  std::unique_ptr<device::Kernel> kernel;
  std::unique_ptr<Workload> workload;
  std::string library;
  std::string note;
};

// Opens the library and makes f32 inputs of the same kind and seed as the dispatch's, with the
// exact result, for `device` (cores). Errors of OpenBlas::open and plan_sgemm.
Result<OpenBlasParts> make_openblas(const ProblemRequest& request, device::Device& device);

}  // namespace hone::measure
