// A CPU library that computes matrix products in f32: its sgemm of a dispatch's root contraction.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/library.h"
#include "problem/operation.h"

namespace hone::library {

// Threads that a library starts by itself. Calls `start` while the calling thread is bound to
// `cores`, so that a library which counts its cores finds these. Then pins each thread that `start`
// created to a core of its own. The calling thread counts as the first, and gets its previous
// affinity back.
void start_on_cores(std::span<const int> cores, const std::function<void()>& start);

// Row-major matrix product C = op(A) op(B), f32, alpha 1, beta 0.
struct Sgemm {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false;  // A is stored k x m
  bool transpose_b = false;  // B is stored n x k
};

// Maps a contraction to calls of sgemm.
struct SgemmPlan {
  Sgemm shape;
  std::int64_t batches = 1;  // calls, on matrices that follow one another
  bool swapped = false;  // the output is stored n x m: C' = B' A', first operand is the right one
};

// Returns an input error if the operation is no static floating-point (batch) matmul with leading
// batch dimensions.
Result<SgemmPlan> plan_sgemm(const problem::Operation& operation);

// Opened library. `call` takes pointers to dense row-major matrices, and is for one thread.
struct SgemmRoutine {
  std::string version;  // "OpenBLAS 0.3.21 NO_AFFINITY ... SkylakeX MAX_THREADS=64"
  std::function<Status(const Sgemm& shape, const float* a, const float* b, float* c)> call;
};

// Makes a Library of one kernel. It computes only the root, in f32, on the library's own threads,
// one per core. If the dispatch has other types or fused operations, the note says so. `open` is
// called for each new set of cores that the library may use. Errors of kernels(): those of `open`
// and plan_sgemm.
std::unique_ptr<device::Library> sgemm_library(
    std::string_view name, std::string_view title,
    std::function<Result<SgemmRoutine>(std::span<const int> cores)> open);

}  // namespace hone::library
