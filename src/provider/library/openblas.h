// OpenBLAS, opened at run time: what a hand-tuned library makes of a contraction on this CPU.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "device/library.h"
#include "provider/library/sgemm_library.h"

namespace hone::library {

// Opens libopenblas.so.0 with one pinned thread per core in `cores`; the calling thread counts as
// the first. Sets OPENBLAS_CORETYPE=SkylakeX in the environment first, unless the user set it,
// where the CPU has AVX-512: releases up to 0.3.21 do not know newer CPUs and would run at half
// speed. An environment error that says how to install it when it is missing.
Result<SgemmRoutine> open_openblas(std::span<const int> cores);

std::unique_ptr<device::Library> openblas();

}  // namespace hone::library
