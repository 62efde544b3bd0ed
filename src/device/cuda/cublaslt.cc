#include "device/cuda/cublaslt.h"

#include "device/cuda/cublaslt_kernels.h"
#include "device/cuda/device.h"
#include "device/product.h"

namespace hone::device::cuda {
namespace {

// As many of the algorithms that cuBLASLt proposes are tried at most.
constexpr std::size_t kMostAlgorithms = 32;

class CublasLtLibrary final : public Library {
 public:
  std::string_view name() const override { return "cublaslt"; }
  std::string_view title() const override { return "cuBLASLt"; }
  std::string_view device_kind() const override { return kKind; }

  Result<LibraryKernels> kernels(const problem::Dispatch& dispatch, Device& device,
                                 std::span<const int>) override {
    HONE_ASSIGN(const Product product, dispatch_product(dispatch));
    const std::shared_ptr<GpuContext> gpu = gpu_of(device);
    if (!gpu) return input_error("cuBLASLt computes on GPUs that hone opened itself");
    if (!library_) {
      HONE_ASSIGN(library_, CublasLt::open());
    }
    return cublaslt_kernels(gpu, library_, product, kMostAlgorithms);
  }

 private:
  std::shared_ptr<const CublasLt> library_;
};

}  // namespace

std::unique_ptr<Library> cublaslt() {
  return std::make_unique<CublasLtLibrary>();
}

}  // namespace hone::device::cuda
