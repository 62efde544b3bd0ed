// OpenBLAS as a Library: its sgemm of a dispatch's root contraction.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "device/library.h"
#include "problem/operation.h"
#include "provider/library/openblas.h"

namespace hone::library {

// How a contraction maps to calls of sgemm.
struct SgemmPlan {
  Sgemm shape;
  std::int64_t batches = 1;  // calls, on matrices that follow one another
  bool swapped = false;  // the output is stored n x m: C' = B' A', first operand is the right one
};

// An input error when the operation is no static floating-point (batch) matmul with leading batch
// dimensions.
Result<SgemmPlan> plan_sgemm(const problem::Operation& operation);

// One kernel, which computes the root alone in f32 on threads of its own, one per core. If the
// dispatch has other types, or something is fused around its root, the note says so. Errors: those
// of OpenBlas::open and plan_sgemm.
std::unique_ptr<device::Library> openblas();

}  // namespace hone::library
