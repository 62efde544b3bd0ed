// Kernels that run one after the other as one, and the memory they share.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/kernel.h"

namespace hone::device::cuda {

class KernelSequence : public QueuedKernel {
 public:
  // Loads every kernel of `parameters` from its part of `code`. Failures as CudaKernel::load, and
  // no memory left for the scratch.
  static Result<std::unique_ptr<KernelSequence>> load(const std::shared_ptr<GpuContext>& gpu,
                                                      std::string_view code,
                                                      const LaunchParameters& parameters);
  ~KernelSequence() override;
  KernelSequence(const KernelSequence&) = delete;
  KernelSequence& operator=(const KernelSequence&) = delete;

  Status launch(std::span<const Buffer> bindings) override;
  Status enqueue(std::span<const Buffer> bindings) override;

 private:
  explicit KernelSequence(std::shared_ptr<GpuContext> gpu) : gpu_(std::move(gpu)) {}
  Status take_scratch(std::size_t bytes);

  std::shared_ptr<GpuContext> gpu_;
  std::vector<std::unique_ptr<CudaKernel>> kernels_;
  Address scratch_ = 0;
};

}  // namespace hone::device::cuda
