// Comparison of arrays on the GPU, so that a correct output need not be fetched.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "device/device.h"
#include "device/gpu/gpu.h"

namespace hone::device::gpu {

// C++ source of the kernels that compare arrays, one per element type. `half_to_float` is the body
// of a function from the bits of an f16 number, `unsigned short bits`, to its float.
std::string comparison_source(std::string_view half_to_float);

class Comparer {
 public:
  // Loads the module of comparison_source()'s kernels.
  static Result<Comparer> create(std::shared_ptr<GpuContext> gpu, const std::string& module);

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

}  // namespace hone::device::gpu
