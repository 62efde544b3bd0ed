// The matrix libraries cuBLASLt and hipBLASLt, which have one C interface under two prefixes: their
// kernels as those of a Library. A vendor's folder finds the library and states its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/gpu/gpu.h"
#include "device/library.h"

namespace hone::device::gpu {

using LtStatus = int;  // 0: success
struct LtState;
struct LtMatmulState;
struct LtLayoutState;
struct LtPreferenceState;
using LtHandle = LtState*;
using LtMatmul = LtMatmulState*;  // MatmulDesc_t: how is multiplied
using LtLayout = LtLayoutState*;
using LtPreference = LtPreferenceState*;

// cudaDataType_t and hipDataType have the same numbers.
inline constexpr int kLtF32 = 0, kLtF16 = 2, kLtBF16 = 14;
// cublasLtReductionScheme_t: parts of a split k loop are added up in the output, or in f32 beside
// it.
inline constexpr std::uint32_t kLtReduceInOutput = 1, kLtReduceInF32 = 2;

// Calls by names without the prefix. Algorithms and results are bytes, as LtNumbers says.
struct LtApi {
  LtStatus (*create)(LtHandle* handle) = nullptr;
  LtStatus (*destroy)(LtHandle handle) = nullptr;
  LtStatus (*matmul_create)(LtMatmul* matmul, int compute, int scale_type) = nullptr;
  LtStatus (*matmul_set)(LtMatmul matmul, int attribute, const void* value,
                         std::size_t bytes) = nullptr;
  LtStatus (*matmul_destroy)(LtMatmul matmul) = nullptr;
  LtStatus (*layout_create)(LtLayout* layout, int type, std::uint64_t rows, std::uint64_t columns,
                            std::int64_t leading) = nullptr;
  LtStatus (*layout_set)(LtLayout layout, int attribute, const void* value,
                         std::size_t bytes) = nullptr;
  LtStatus (*layout_destroy)(LtLayout layout) = nullptr;
  LtStatus (*preference_create)(LtPreference* preference) = nullptr;
  LtStatus (*preference_set)(LtPreference preference, int attribute, const void* value,
                             std::size_t bytes) = nullptr;
  LtStatus (*preference_destroy)(LtPreference preference) = nullptr;
  LtStatus (*heuristics)(LtHandle handle, LtMatmul matmul, LtLayout a, LtLayout b, LtLayout c,
                         LtLayout d, LtPreference preference, int most, void* results,
                         int* count) = nullptr;
  LtStatus (*multiply)(LtHandle handle, LtMatmul matmul, const void* alpha, DevicePointer a,
                       LtLayout a_layout, DevicePointer b, LtLayout b_layout, const void* beta,
                       DevicePointer c, LtLayout c_layout, DevicePointer d, LtLayout d_layout,
                       const void* algorithm, DevicePointer workspace, std::size_t workspace_bytes,
                       StreamHandle stream) = nullptr;
};

// Fills the calls from functions with this prefix ("cublasLt"). Returns the name of the first that
// the library has not; empty: it has all.
std::string find_lt_calls(const SharedLibrary& library, std::string_view prefix, LtApi& api);

// Where the two headers differ.
struct LtNumbers {
  int compute_f32 = 0;                     // sums in f32: no TF32, no narrower sums
  std::int32_t plain = 0, transposed = 0;  // Operation_t
  int transpose_a = 0, transpose_b = 0;    // MatmulDescAttributes_t
  int batch_count = 0, batch_offset = 0;   // MatrixLayoutAttribute_t
  int most_workspace = 0;                  // MatmulPreferenceAttributes_t
  std::optional<int> reduction_schemes = {};
  // MatmulHeuristicResult_t: its size, and where the algorithm's workspace and status are; the
  // algorithm itself comes first.
  std::size_t result_bytes = 0, workspace_at = 0, status_at = 0;
};

// A library that is open. Nothing of the GPU is touched yet; the library is never closed.
struct LtLibrary {
  LtApi call;
  LtNumbers numbers;
  std::string title;  // "cuBLASLt"
  std::string name;   // "cuBLASLt 13.0.2"
  std::function<std::string(LtStatus)> status_name;
  // An algorithm in the library's terms: "algorithm 66, tile 24". Empty: it has none.
  std::function<std::string(const void* algorithm)> describe = {};

  // A failure: "multiplying: cuBLASLt says CUBLAS_STATUS_NOT_SUPPORTED".
  Status check(LtStatus code, std::string_view doing) const;
};

// A matrix as the libraries see it: a row-major R x C matrix is a column-major C x R one.
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

// Expresses a product of row-major matrices for a library that is column-major. An input error that
// names it (`title`) for element types that it does not multiply with sums in f32: operands are
// f16, bf16 or f32, the output is f32 or of the operands' type.
Result<ColumnMajorProduct> column_major(const Product& product, std::string_view title);

// Returns the algorithms that MatmulAlgoGetHeuristic proposes for the product, best guess first, at
// most `most`. Errors: those of column_major; a failure in the library's words, or if it proposes
// none.
Result<LibraryKernels> lt_kernels(const std::shared_ptr<GpuContext>& gpu,
                                  const std::shared_ptr<const LtLibrary>& library,
                                  const Product& product, std::size_t most);

// The library as a Library: over the candidates' own buffers, in every algorithm that it proposes,
// launched and timed as candidates are. `open` is called when its kernels are first asked for.
// Errors: those of open(), dispatch_product and lt_kernels.
struct LtEntry {
  std::string_view name, title, device_kind;
  Result<std::shared_ptr<const LtLibrary>> (*open)() = nullptr;
};
std::unique_ptr<Library> lt_library(const LtEntry& entry);

}  // namespace hone::device::gpu
