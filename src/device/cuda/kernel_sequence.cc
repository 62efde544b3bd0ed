#include "device/cuda/kernel_sequence.h"

#include <algorithm>

namespace hone::device::cuda {

Result<std::unique_ptr<KernelSequence>> KernelSequence::load(const std::shared_ptr<GpuContext>& gpu,
                                                             std::string_view code,
                                                             const LaunchParameters& parameters) {
  std::unique_ptr<KernelSequence> sequence(new KernelSequence(gpu));
  const auto parts = problem::kernels_of(parameters, code);
  std::int64_t scratch_bytes = 0;
  for (const problem::KernelPart& part : parts)
    scratch_bytes = std::max(scratch_bytes, part.launch->scratch_bytes);
  if (scratch_bytes > 0) HONE_TRY(sequence->take_scratch(static_cast<std::size_t>(scratch_bytes)));
  for (const problem::KernelPart& part : parts) {
    HONE_ASSIGN(auto kernel, CudaKernel::load(gpu, part.code, *part.launch, sequence->scratch_));
    sequence->kernels_.push_back(std::move(kernel));
  }
  return sequence;
}

KernelSequence::~KernelSequence() {
  if (scratch_ != 0) gpu_->call().memory_free(scratch_);
}

Status KernelSequence::take_scratch(std::size_t bytes) {
  HONE_TRY(gpu_->check(gpu_->call().memory_allocate(&scratch_, bytes),
                       fmt::format("taking {} bytes of scratch memory", bytes)));
  return gpu_->check(gpu_->call().set_bytes(scratch_, 0, bytes), "clearing the scratch memory");
}

Status KernelSequence::enqueue(std::span<const Buffer> bindings) {
  for (const auto& kernel : kernels_) HONE_TRY(kernel->enqueue(bindings));
  return {};
}

Status KernelSequence::launch(std::span<const Buffer> bindings) {
  const BusyWait busy(*gpu_);
  HONE_TRY(enqueue(bindings));
  return gpu_->wait("running the kernels");
}

}  // namespace hone::device::cuda
