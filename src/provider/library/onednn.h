// oneDNN, opened at run time: Intel's deep-learning library as a baseline for contractions on this
// CPU.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "device/library.h"
#include "provider/library/sgemm_library.h"

namespace hone::library {

// Opens libdnnl.so.3 or libdnnl.so.2, built with OpenMP as Debian's is, with one pinned thread per
// core in `cores`. The calling thread counts as the first. First sets OMP_NUM_THREADS in the
// environment, and GOMP_SPINCOUNT unless the user has set how OpenMP's threads wait. If the library
// is missing, returns an environment error that says how to install it.
Result<SgemmRoutine> open_onednn(std::span<const int> cores);

std::unique_ptr<device::Library> onednn();

}  // namespace hone::library
