// NVIDIA's matrix library cuBLASLt, opened at run time, and its kernels as those of a Library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/gpu/gpu.h"
#include "device/library.h"

namespace hone::device::cuda {

using gpu::DevicePointer;
using gpu::GpuContext;
using gpu::StreamHandle;

// The calls of cuBLASLt (libcublasLt.so.12 and .13) that hone makes: own declarations, since no
// CUDA toolkit is needed to build hone. Names and values as in cublasLt.h, cublas_api.h and
// library_types.h of CUDA 12 and 13.
using LtStatus = int;  // cublasStatus_t; 0: success
struct LtState;
struct LtMatmulState;
struct LtLayoutState;
struct LtPreferenceState;
using LtHandle = LtState*;
using LtMatmul = LtMatmulState*;  // cublasLtMatmulDesc_t: how is multiplied
using LtLayout = LtLayoutState*;
using LtPreference = LtPreferenceState*;

struct LtAlgorithm {
  std::uint64_t data[8];
};
struct LtHeuristicResult {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes;
  LtStatus status;
  float waves;
  int reserved[4];
};
static_assert(sizeof(LtHeuristicResult) == 96);

// cudaDataType_t and cublasComputeType_t. CUBLAS_COMPUTE_32F: no TF32, no narrower sums.
inline constexpr int kLtF32 = 0, kLtF16 = 2, kLtBF16 = 14, kLtComputeF32 = 68;
// cublasOperation_t.
inline constexpr std::int32_t kLtPlain = 0, kLtTransposed = 1;
// cublasLtMatmulDescAttributes_t.
inline constexpr int kLtTransposeA = 3, kLtTransposeB = 4;
// cublasLtMatrixLayoutAttribute_t.
inline constexpr int kLtBatchCount = 5, kLtBatchOffset = 6;
// cublasLtMatmulPreferenceAttributes_t.
inline constexpr int kLtMostWorkspace = 1, kLtReductionSchemes = 3;
// cublasLtReductionScheme_t: parts of a split k loop are added up in the output, or in f32 beside
// it.
inline constexpr std::uint32_t kLtReduceInOutput = 1, kLtReduceInF32 = 2;
// cublasLtMatmulAlgoConfigAttributes_t.
inline constexpr int kLtAlgorithmId = 0, kLtTile = 1, kLtSplitK = 2, kLtStages = 6;

// X(member, symbol, parameters): every call returns an LtStatus.
#define HONE_CUBLASLT_CALLS(X)                                                                   \
  X(create, "cublasLtCreate", (LtHandle * handle))                                               \
  X(destroy, "cublasLtDestroy", (LtHandle handle))                                               \
  X(matmul_create, "cublasLtMatmulDescCreate", (LtMatmul * matmul, int compute, int scale_type)) \
  X(matmul_set, "cublasLtMatmulDescSetAttribute",                                                \
    (LtMatmul matmul, int attribute, const void* value, std::size_t bytes))                      \
  X(matmul_destroy, "cublasLtMatmulDescDestroy", (LtMatmul matmul))                              \
  X(layout_create, "cublasLtMatrixLayoutCreate",                                                 \
    (LtLayout * layout, int type, std::uint64_t rows, std::uint64_t columns,                     \
     std::int64_t leading))                                                                      \
  X(layout_set, "cublasLtMatrixLayoutSetAttribute",                                              \
    (LtLayout layout, int attribute, const void* value, std::size_t bytes))                      \
  X(layout_destroy, "cublasLtMatrixLayoutDestroy", (LtLayout layout))                            \
  X(preference_create, "cublasLtMatmulPreferenceCreate", (LtPreference * preference))            \
  X(preference_set, "cublasLtMatmulPreferenceSetAttribute",                                      \
    (LtPreference preference, int attribute, const void* value, std::size_t bytes))              \
  X(preference_destroy, "cublasLtMatmulPreferenceDestroy", (LtPreference preference))            \
  X(heuristics, "cublasLtMatmulAlgoGetHeuristic",                                                \
    (LtHandle handle, LtMatmul matmul, LtLayout a, LtLayout b, LtLayout c, LtLayout d,           \
     LtPreference preference, int most, LtHeuristicResult* results, int* count))                 \
  X(algorithm_get, "cublasLtMatmulAlgoConfigGetAttribute",                                       \
    (const LtAlgorithm* algorithm, int attribute, void* value, std::size_t bytes,                \
     std::size_t* written))                                                                      \
  X(multiply, "cublasLtMatmul",                                                                  \
    (LtHandle handle, LtMatmul matmul, const void* alpha, DevicePointer a, LtLayout a_layout,    \
     DevicePointer b, LtLayout b_layout, const void* beta, DevicePointer c, LtLayout c_layout,   \
     DevicePointer d, LtLayout d_layout, const LtAlgorithm* algorithm, DevicePointer workspace,  \
     std::size_t workspace_bytes, StreamHandle stream))

struct CublasLtApi {
#define HONE_CUBLASLT_MEMBER(member, symbol, parameters) LtStatus(*member) parameters = nullptr;
  HONE_CUBLASLT_CALLS(HONE_CUBLASLT_MEMBER)
#undef HONE_CUBLASLT_MEMBER
  std::size_t (*version)() = nullptr;                   // cublasLtGetVersion
  const char* (*status_name)(LtStatus code) = nullptr;  // cublasLtGetStatusName
};

// Names under which the library is tried: $HONE_CUBLASLT alone where it is set; else the system's
// own (LD_LIBRARY_PATH), then those below toolkit_folders(), where PyTorch's wheels have it.
std::vector<std::string> cublaslt_names();

class CublasLt {
 public:
  // The first of `names` that opens. Environment errors: none does (the message says how to name
  // one), a function is missing, it is older than CUDA 12.0. Nothing of the GPU is touched yet.
  // The library is never closed.
  static Result<std::shared_ptr<const CublasLt>> open(
      const std::vector<std::string>& names = cublaslt_names());

  const CublasLtApi& call() const { return api_; }
  std::string name() const;  // "cuBLASLt 13.0.2"
  // A failure: "multiplying: cuBLASLt says CUBLAS_STATUS_NOT_SUPPORTED".
  Status check(LtStatus code, std::string_view doing) const;

 private:
  CublasLt() = default;
  CublasLtApi api_;
  std::size_t version_ = 0;
};

// A matrix as cuBLASLt sees it: a row-major R x C matrix is a column-major C x R one.
struct ColumnMajor {
  std::size_t binding = 0;
  int type = 0;  // cudaDataType_t
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0;  // elements from one column to the next
  std::int64_t stride = 0;   // elements from one matrix of the batch to the next
  bool transposed = false;   // in the product

  bool operator==(const ColumnMajor&) const = default;
};

// C' = B' A': the output read in columns is the product of the operands in the other order.
struct ColumnMajorProduct {
  ColumnMajor first, second, output;
  std::int32_t batches = 1;
  float beta = 0;
  std::uint32_t reductions = 0;  // how parts of a split k loop may be added up

  bool operator==(const ColumnMajorProduct&) const = default;
};

// Expresses a product of row-major matrices for cuBLASLt, which is column-major. An input error for
// element types that cuBLASLt does not multiply with sums in f32: operands are f16, bf16 or f32,
// the output is f32 or of the operands' type.
Result<ColumnMajorProduct> column_major(const Product& product);

// Returns the algorithms that cublasLtMatmulAlgoGetHeuristic proposes for the product, best guess
// first, at most `most`. Errors: those of column_major; a failure in the library's words, or if it
// proposes none.
Result<LibraryKernels> cublaslt_kernels(const std::shared_ptr<GpuContext>& gpu,
                                        const std::shared_ptr<const CublasLt>& library,
                                        const Product& product, std::size_t most);

// cuBLASLt as a Library: over the candidates' own buffers, in every algorithm that it proposes,
// launched and timed as candidates are. Opens NVIDIA's library when its kernels are first asked
// for. Errors: those of CublasLt::open, dispatch_product and cublaslt_kernels.
std::unique_ptr<Library> cublaslt();

}  // namespace hone::device::cuda
