// NVIDIA's matrix library cuBLASLt (libcublasLt.so.12 and .13), opened at run time. Names and
// values as in cublasLt.h and cublas_api.h of CUDA 12 and 13: no CUDA toolkit is needed to build
// hone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/gpu/lt_library.h"

namespace hone::device::cuda {

// Names under which the library is tried: $HONE_CUBLASLT alone where it is set; else the system's
// own (LD_LIBRARY_PATH), then those below toolkit_folders(), where PyTorch's wheels have it.
std::vector<std::string> cublaslt_names();

// The first of `names` that opens. Environment errors: none does (the message says how to name
// one), a function is missing, it is older than CUDA 12.0.
Result<std::shared_ptr<const gpu::LtLibrary>> open_cublaslt(
    const std::vector<std::string>& names = cublaslt_names());

// cuBLASLt as a Library (gpu::lt_library).
std::unique_ptr<Library> cublaslt();

}  // namespace hone::device::cuda
