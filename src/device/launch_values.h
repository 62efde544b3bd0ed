// Arguments of a kernel's launch, as drivers of GPUs take them: a pointer to each value.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "problem/launch.h"

namespace hone::device {

// The launch's own arguments; where it has none, one 64-bit pointer per binding, then the 32-bit
// constants (IREE's calling convention on GPUs). Its null pointers follow.
class LaunchValues {
 public:
  // Makes the bytes of an argument of kind kTensorMap for a matrix at `address`, which the driver
  // only reads; good until the next call of of().
  using TensorMaps = std::function<Result<const void*>(const problem::LaunchArgument& argument,
                                                       std::uint64_t address)>;

  // `scratch`: the address of the launch's scratch memory. `launch` must outlive this. Without
  // `tensor_maps` an argument of that kind is a failure.
  LaunchValues(const problem::Launch& launch, std::uint64_t scratch, TensorMaps tensor_maps = {})
      : launch_(launch), scratch_(scratch), tensor_maps_(std::move(tensor_maps)) {}
  LaunchValues(const LaunchValues&) = delete;

  // Pointers to the values of all arguments, little endian and of 64 bits, of which the first bytes
  // are the value of any width; good until the next call. A failure for a binding that is not
  // there, and those of `tensor_maps`.
  Result<std::span<void*>> of(std::span<const Buffer> bindings);

 private:
  Status add(const problem::LaunchArgument& argument, std::span<const Buffer> bindings);
  void push(std::uint64_t value);

  const problem::Launch& launch_;
  std::uint64_t scratch_;
  TensorMaps tensor_maps_;
  std::deque<std::uint64_t> values_;
  std::vector<void*> pointers_;
};

}  // namespace hone::device
