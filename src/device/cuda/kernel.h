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

// What the driver says of a loaded function.
struct FunctionFacts {
  int registers = 0;     // of a thread
  int shared_bytes = 0;  // static, of a block
  int local_bytes = 0;   // of a thread: spilled registers and arrays in local memory
  int most_threads = 0;  // of a block, given the registers
};

// A kernel that can be asked for without waiting: what CudaDevice::time takes, of hone's own
// loading or a library's.
class QueuedKernel : public Kernel {
 public:
  // As launch() without waiting, on the default stream; a failure may show in a later call.
  virtual Status enqueue(std::span<const Buffer> bindings);
  // Seconds a launch took when last timed; 0: not known.
  double seconds_of_last = 0;
  // That enqueue() takes on the host, about.
  double launch_seconds = 5e-6;
};

class CudaKernel : public QueuedKernel {
 public:
  // `scratch`: the address of the launch's scratch memory. `code` is PTX, which the driver compiles
  // (tens of milliseconds, one at a time in a process), or a cubin. Failures: code for another GPU,
  // which the driver is not shown; the driver's words and its compiler's log; no such entry; a
  // block or shared memory that this GPU cannot give; own memory that the module does not have.
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

  // For launches from now on.
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
