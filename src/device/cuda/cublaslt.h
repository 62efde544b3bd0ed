// cuBLASLt as a Library: over the candidates' own buffers, in every algorithm that it proposes.
#pragma once

#include <memory>

#include "device/library.h"

namespace hone::device::cuda {

// Opens NVIDIA's library when its kernels are first asked for. Errors: those of CublasLt::open,
// dispatch_product and cublaslt_kernels.
std::unique_ptr<Library> cublaslt();

}  // namespace hone::device::cuda
