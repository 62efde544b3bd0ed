// Code on a GPU: a module and the function in it that is launched.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "device/cuda/gpu_context.h"
#include "device/cuda/kernel_arguments.h"
#include "device/device.h"

namespace hone::device::cuda {

// Facts of a loaded function, as the driver states them.
struct FunctionFacts {
  int registers = 0;     // of a thread
  int shared_bytes = 0;  // static, of a block
  int local_bytes = 0;   // of a thread: spilled registers and arrays in local memory
  int most_threads = 0;  // of a block, given the registers
};

// A kernel that can be enqueued without waiting, as CudaDevice::time requires. hone loads it, or a
// library provides it.
class QueuedKernel : public Kernel {
 public:
  // Launches like launch(), on the default stream, but does not wait. A failure may show in a later
  // call.
  virtual Status enqueue(std::span<const Buffer> bindings);
  // Seconds a launch took when last timed; 0: not known.
  double seconds_of_last = 0;
  // Approximate seconds that enqueue() takes on the host.
  double launch_seconds = 5e-6;
};

class CudaKernel : public QueuedKernel {
 public:
  // `scratch`: the address of the launch's scratch memory. `code` is PTX, which the driver compiles
  // (tens of milliseconds, one at a time in a process), or a cubin. Failures: code for another GPU,
  // which is not passed to the driver; the driver's words and its compiler's log; no such entry.
  // Also a block or shared memory that this GPU cannot give, and own memory that the module does
  // not have.
  static Result<std::unique_ptr<CudaKernel>> load(std::shared_ptr<GpuContext> gpu,
                                                  std::string_view code,
                                                  const LaunchParameters& parameters,
                                                  Address scratch = 0);
  ~CudaKernel() override;
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;

  // The launch's own arguments; where it has none, one 64-bit pointer per binding, then the 32-bit
  // constants (IREE's CUDA calling convention).
  Status launch(std::span<const Buffer> bindings) override;
  Status enqueue(std::span<const Buffer> bindings) override;

  Result<std::string> damage() override;

  // Applies to later launches.
  void set_constants(std::vector<std::uint32_t> constants) {
    parameters_.constants = std::move(constants);
  }

  const FunctionFacts& facts() const { return facts_; }

 private:
  CudaKernel(std::shared_ptr<GpuContext> gpu, const LaunchParameters& parameters, Address scratch);
  Status load_module(std::string_view code);
  Status find_function();
  Status fill_guards();

  std::shared_ptr<GpuContext> gpu_;
  LaunchParameters parameters_;
  FunctionFacts facts_;
  Module module_ = nullptr;
  Function function_ = nullptr;
  KernelArguments arguments_;
  std::vector<Address> guards_;  // of own memory: before and behind each
};

}  // namespace hone::device::cuda
