// The arguments of a kernel as the driver takes them: addresses, constants, tensor maps.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "device/cuda/gpu_context.h"
#include "device/device.h"

namespace hone::device::cuda {

class KernelArguments {
 public:
  // `scratch`: the address of the launch's scratch memory. Both must outlive this.
  KernelArguments(GpuContext& gpu, const LaunchParameters& launch, Address scratch)
      : gpu_(gpu), launch_(launch), scratch_(scratch) {}

  // Pointers to the values of all arguments, for cuLaunchKernel; good until the next call. A
  // failure for a binding that is not there and for a tensor map that the driver refuses.
  Result<void**> of(std::span<const Buffer> bindings);

 private:
  Status add(const problem::LaunchArgument& argument, std::span<const Buffer> bindings);
  Result<const TensorMapBytes*> tensor_map(const problem::LaunchArgument& argument,
                                           Address address);
  void push(std::uint64_t value);

  GpuContext& gpu_;
  const LaunchParameters& launch_;
  Address scratch_;
  std::deque<std::uint64_t> values_;  // little endian: the first bytes are the value of any width
  std::vector<void*> pointers_;
  // By argument and address: measuring rotates through copies of the buffers.
  std::map<std::pair<const problem::LaunchArgument*, Address>, TensorMapBytes> maps_;
};

}  // namespace hone::device::cuda
