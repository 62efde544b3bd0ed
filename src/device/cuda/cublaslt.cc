#include "device/cuda/cublaslt.h"

#include <cstdlib>

#include "device/cuda/gpu.h"
#include "device/cuda/toolkit.h"

namespace hone::device::cuda {
namespace {

using gpu::LtStatus;

// cublasLtGetVersion counts 10000 x major + 100 x minor + patch from CUDA 12 on. Smaller numbers
// are older libraries in either way of counting.
constexpr std::size_t kOldestCublasLt = 120000;
constexpr const char* kWhereItIs = "PyTorch's wheels and the CUDA toolkit (12.0 or later) have it";
constexpr const char* kHowToName = "HONE_CUBLASLT names the file";

// CUBLAS_COMPUTE_32F; CUBLAS_OP_N and _T; CUBLASLT_MATMUL_DESC_TRANSA and _TRANSB;
// CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT and _STRIDED_BATCH_OFFSET;
// CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES and _REDUCTION_SCHEME_MASK.
constexpr gpu::LtNumbers kNumbers{.compute_f32 = 68,
                                  .plain = 0,
                                  .transposed = 1,
                                  .transpose_a = 3,
                                  .transpose_b = 4,
                                  .batch_count = 5,
                                  .batch_offset = 6,
                                  .most_workspace = 1,
                                  .reduction_schemes = 3,
                                  .result_bytes = 96,
                                  .workspace_at = 64,
                                  .status_at = 72};
// cublasLtMatmulAlgoConfigAttributes_t.
constexpr int kAlgorithmId = 0, kTile = 1, kSplitK = 2, kStages = 6;

using AlgorithmGet = LtStatus (*)(const void* algorithm, int attribute, void* value,
                                  std::size_t bytes, std::size_t* written);

std::string description(AlgorithmGet get, const void* algorithm) {
  const auto attribute = [&](int which) {
    std::uint32_t value = 0;
    std::size_t written = 0;
    get(algorithm, which, &value, sizeof(value), &written);
    return value;
  };
  return fmt::format("algorithm {}, tile {}, stages {}, split-K {}", attribute(kAlgorithmId),
                     attribute(kTile), attribute(kStages),
                     static_cast<std::int32_t>(attribute(kSplitK)));
}

}  // namespace

std::vector<std::string> cublaslt_names() {
  if (const char* given = std::getenv("HONE_CUBLASLT"); given != nullptr && *given != '\0')
    return {given};
  return library_names({"libcublasLt.so.13", "libcublasLt.so.12"});
}

Result<std::shared_ptr<const gpu::LtLibrary>> open_cublaslt(const std::vector<std::string>& names) {
  const auto library = SharedLibrary::open(names);
  if (!library)
    return advised(environment_error("cuBLASLt is not on this machine ({}): {}",
                                     library.error().message, kWhereItIs),
                   kHowToName);
  gpu::LtLibrary lt;
  AlgorithmGet get = nullptr;
  std::size_t (*version)() = nullptr;
  const char* (*status_name)(LtStatus code) = nullptr;
  std::string missing = gpu::find_lt_calls(*library, "cublasLt", lt.call);
  const auto find = [&](const char* symbol, auto& function) {
    if (!library->find(symbol, function) && missing.empty()) missing = symbol;
  };
  find("cublasLtMatmulAlgoConfigGetAttribute", get);
  find("cublasLtGetVersion", version);
  find("cublasLtGetStatusName", status_name);
  if (!missing.empty())
    return advised(
        environment_error("{} has no function {}: it is no cuBLASLt of CUDA 12.0 or later; {}",
                          library->name(), missing, kWhereItIs),
        kHowToName);
  const std::size_t number = version();
  if (number < kOldestCublasLt)
    return advised(
        environment_error("{} is too old: version {}, hone needs {} (CUDA 12.0) or later; {}",
                          library->name(), number, kOldestCublasLt, kWhereItIs),
        kHowToName);
  lt.numbers = kNumbers;
  lt.title = "cuBLASLt";
  lt.name = fmt::format("cuBLASLt {}.{}.{}", number / 10000, number / 100 % 100, number % 100);
  lt.status_name = [status_name](LtStatus code) {
    const char* const name = status_name(code);
    return name != nullptr ? std::string(name) : fmt::format("error {}", code);
  };
  lt.describe = [get](const void* algorithm) { return description(get, algorithm); };
  return std::make_shared<const gpu::LtLibrary>(std::move(lt));
}

std::unique_ptr<Library> cublaslt() {
  return gpu::lt_library(
      {.name = "cublaslt", .title = "cuBLASLt", .device_kind = kKind, .open = [] {
         return open_cublaslt();
       }});
}

}  // namespace hone::device::cuda
