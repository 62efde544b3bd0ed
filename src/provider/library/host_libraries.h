// OpenBLAS and oneDNN (Intel's deep-learning library), opened at run time: hand-tuned libraries as
// baselines for contractions on this CPU. They compute matrix products in f32: their sgemm of a
// dispatch's root contraction.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "device/library.h"
#include "problem/operation.h"

namespace hone::library {

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

// Opens libopenblas.so.0 with one pinned thread per core in `cores`. The calling thread counts as
// the first. If the CPU has AVX-512, first sets OPENBLAS_CORETYPE=SkylakeX in the environment,
// unless the user has set it. Releases up to 0.3.21 do not know newer CPUs and would run at half
// speed. If the library is missing, returns an environment error that says how to install it.
Result<SgemmRoutine> open_openblas(std::span<const int> cores);

// Opens libdnnl.so.3 or libdnnl.so.2, built with OpenMP as Debian's is, with one pinned thread per
// core in `cores`. The calling thread counts as the first. First sets OMP_NUM_THREADS in the
// environment, and GOMP_SPINCOUNT unless the user has set how OpenMP's threads wait. If the library
// is missing, returns an environment error that says how to install it.
Result<SgemmRoutine> open_onednn(std::span<const int> cores);

// Libraries of one kernel. It computes only the root, in f32, on the library's own threads, one per
// core. If the dispatch has other types or fused operations, the note says so. Each new set of
// cores opens the library again. Errors of kernels(): those of opening it and of plan_sgemm.
std::unique_ptr<device::Library> openblas();
std::unique_ptr<device::Library> onednn();

}  // namespace hone::library
