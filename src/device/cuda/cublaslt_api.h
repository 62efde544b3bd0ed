// The calls of cuBLASLt (libcublasLt.so.12 and .13) that hone makes: own declarations, since no
// CUDA toolkit is needed to build hone. Names and values as in cublasLt.h, cublas_api.h and
// library_types.h of CUDA 12 and 13.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda/driver_api.h"

namespace hone::device::cuda {

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
#define HONE_CUBLASLT_CALLS(X)                                                                     \
  X(create, "cublasLtCreate", (LtHandle * handle))                                                 \
  X(destroy, "cublasLtDestroy", (LtHandle handle))                                                 \
  X(matmul_create, "cublasLtMatmulDescCreate", (LtMatmul * matmul, int compute, int scale_type))   \
  X(matmul_set, "cublasLtMatmulDescSetAttribute",                                                  \
    (LtMatmul matmul, int attribute, const void* value, std::size_t bytes))                        \
  X(matmul_destroy, "cublasLtMatmulDescDestroy", (LtMatmul matmul))                                \
  X(layout_create, "cublasLtMatrixLayoutCreate",                                                   \
    (LtLayout * layout, int type, std::uint64_t rows, std::uint64_t columns,                       \
     std::int64_t leading))                                                                        \
  X(layout_set, "cublasLtMatrixLayoutSetAttribute",                                                \
    (LtLayout layout, int attribute, const void* value, std::size_t bytes))                        \
  X(layout_destroy, "cublasLtMatrixLayoutDestroy", (LtLayout layout))                              \
  X(preference_create, "cublasLtMatmulPreferenceCreate", (LtPreference * preference))              \
  X(preference_set, "cublasLtMatmulPreferenceSetAttribute",                                        \
    (LtPreference preference, int attribute, const void* value, std::size_t bytes))                \
  X(preference_destroy, "cublasLtMatmulPreferenceDestroy", (LtPreference preference))              \
  X(heuristics, "cublasLtMatmulAlgoGetHeuristic",                                                  \
    (LtHandle handle, LtMatmul matmul, LtLayout a, LtLayout b, LtLayout c, LtLayout d,             \
     LtPreference preference, int most, LtHeuristicResult* results, int* count))                   \
  X(algorithm_get, "cublasLtMatmulAlgoConfigGetAttribute",                                         \
    (const LtAlgorithm* algorithm, int attribute, void* value, std::size_t bytes,                  \
     std::size_t* written))                                                                        \
  X(multiply, "cublasLtMatmul",                                                                    \
    (LtHandle handle, LtMatmul matmul, const void* alpha, Address a, LtLayout a_layout, Address b, \
     LtLayout b_layout, const void* beta, Address c, LtLayout c_layout, Address d,                 \
     LtLayout d_layout, const LtAlgorithm* algorithm, Address workspace,                           \
     std::size_t workspace_bytes, Stream stream))

struct CublasLtApi {
#define HONE_CUBLASLT_MEMBER(member, symbol, parameters) LtStatus(*member) parameters = nullptr;
  HONE_CUBLASLT_CALLS(HONE_CUBLASLT_MEMBER)
#undef HONE_CUBLASLT_MEMBER
  std::size_t (*version)() = nullptr;                   // cublasLtGetVersion
  const char* (*status_name)(LtStatus code) = nullptr;  // cublasLtGetStatusName
};

}  // namespace hone::device::cuda
