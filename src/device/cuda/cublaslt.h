// cuBLASLt as a Library: over the candidates' own buffers, in every algorithm that it proposes,
// launched and timed as candidates are.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "device/cuda/cublaslt_library.h"
#include "device/cuda/gpu_context.h"
#include "device/library.h"
#include "device/product.h"

namespace hone::device::cuda {

// Workspace that the library may use, as PyTorch and NVIDIA's own benchmarks give it at most.
inline constexpr std::size_t kLtWorkspaceBytes = std::size_t{256} << 20;

// Returns the algorithms that cublasLtMatmulAlgoGetHeuristic proposes for the product, best guess
// first, at most `most`. Errors: those of column_major; a failure in the library's words, or if it
// proposes none.
Result<LibraryKernels> cublaslt_kernels(const std::shared_ptr<GpuContext>& gpu,
                                        const std::shared_ptr<const CublasLt>& library,
                                        const Product& product, std::size_t most);

// Opens NVIDIA's library when its kernels are first asked for. Errors: those of CublasLt::open,
// dispatch_product and cublaslt_kernels.
std::unique_ptr<Library> cublaslt();

}  // namespace hone::device::cuda
