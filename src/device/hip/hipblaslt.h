// AMD's matrix library hipBLASLt (libhipblaslt.so of ROCm 6 and 7), opened at run time. Names and
// values as in hipblaslt.h and hipblas-common.h: no ROCm is needed to build hone. It was never run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/gpu/lt_library.h"

namespace hone::device::hip {

// Names under which the library is tried: $HONE_HIPBLASLT alone where it is set; else as
// library_names() of driver.h.
std::vector<std::string> hipblaslt_names();

// The first of `names` that opens. Environment errors: none does (the message says how to name
// one), a function is missing.
Result<std::shared_ptr<const gpu::LtLibrary>> open_hipblaslt(
    const std::vector<std::string>& names = hipblaslt_names());

// hipBLASLt as a Library (gpu::lt_library).
std::unique_ptr<Library> hipblaslt();

}  // namespace hone::device::hip
