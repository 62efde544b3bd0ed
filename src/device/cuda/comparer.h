// Comparison of arrays on the GPU, so that a right output need not be fetched.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "device/cuda/kernel.h"

namespace hone::device::cuda {

// CUDA C++ of the kernels, one per element type.
std::string comparison_source();

class Comparer {
 public:
  // Compiles the kernels with libnvrtc; an environment error if it is missing.
  static Result<Comparer> create(std::shared_ptr<GpuContext> gpu);

  // As Device::difference.
  Result<std::optional<Difference>> difference(const void* got, const void* expected,
                                               problem::ElementType type, std::int64_t count,
                                               double absolute, double relative);

 private:
  explicit Comparer(std::shared_ptr<GpuContext> gpu) : gpu_(std::move(gpu)) {}
  struct Owner;  // of the module

  std::shared_ptr<GpuContext> gpu_;
  std::shared_ptr<Owner> module_;
};

}  // namespace hone::device::cuda
