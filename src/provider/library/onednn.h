// oneDNN, opened at run time: what Intel's library of deep learning makes of a contraction on this
// CPU.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "device/library.h"
#include "provider/library/sgemm_library.h"

namespace hone::library {

// Opens libdnnl.so.3 or libdnnl.so.2, built with OpenMP as Debian's is, with one pinned thread per
// core in `cores`; the calling thread counts as the first. Sets OMP_NUM_THREADS and, unless the
// user said how OpenMP's threads wait, GOMP_SPINCOUNT in the environment first. An environment
// error that says how to install it when it is missing.
Result<SgemmRoutine> open_onednn(std::span<const int> cores);

std::unique_ptr<device::Library> onednn();

}  // namespace hone::library
