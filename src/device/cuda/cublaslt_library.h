// NVIDIA's matrix library cuBLASLt, opened at run time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/cuda/cublaslt_api.h"

namespace hone::device::cuda {

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

}  // namespace hone::device::cuda
