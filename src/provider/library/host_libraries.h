// OpenBLAS and oneDNN (Intel's deep-learning library), opened at run time: hand-tuned libraries as
// baselines for contractions on this CPU.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "device/library.h"
#include "provider/library/sgemm_library.h"

namespace hone::library {

// Opens libopenblas.so.0 with one pinned thread per core in `cores`. The calling thread counts as
// the first. If the CPU has AVX-512, first sets OPENBLAS_CORETYPE=SkylakeX in the environment,
// unless the user has set it. Releases up to 0.3.21 do not know newer CPUs and would run at half
// speed. If the library is missing, returns an environment error that says how to install it.
Result<SgemmRoutine> open_openblas(std::span<const int> cores);

std::unique_ptr<device::Library> openblas();

// Opens libdnnl.so.3 or libdnnl.so.2, built with OpenMP as Debian's is, with one pinned thread per
// core in `cores`. The calling thread counts as the first. First sets OMP_NUM_THREADS in the
// environment, and GOMP_SPINCOUNT unless the user has set how OpenMP's threads wait. If the library
// is missing, returns an environment error that says how to install it.
Result<SgemmRoutine> open_onednn(std::span<const int> cores);

std::unique_ptr<device::Library> onednn();

}  // namespace hone::library
