// OpenBLAS, opened at run time: a hand-tuned library as a baseline for contractions on this CPU.
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

}  // namespace hone::library
