// Code on a GPU: a module and the function in it that is launched, and sequences of them.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/gpu/gpu.h"
#include "device/launch_values.h"

namespace hone::device::gpu {

// NVIDIA's tensor maps of a launch, which the driver makes.
class TensorMaps {
 public:
  explicit TensorMaps(GpuContext& gpu) : gpu_(gpu) {}  // which must outlive this
  // As LaunchValues::TensorMaps. A failure for a map that the driver refuses.
  Result<const void*> of(const problem::LaunchArgument& argument, DevicePointer address);

 private:
  GpuContext& gpu_;
  // By argument and address: measuring rotates through copies of the buffers.
  std::map<std::pair<const problem::LaunchArgument*, DevicePointer>, TensorMapBytes> maps_;
};

// Code on a GPU: a module and the function in it that is launched.

// Facts of a loaded function, as the driver states them.
struct FunctionFacts {
  int registers = 0;     // of a thread
  int shared_bytes = 0;  // static, of a block
  int local_bytes = 0;   // of a thread: spilled registers and arrays in local memory
  int most_threads = 0;  // of a block, given the registers
};

// A kernel that can be enqueued without waiting, as GpuDevice::time requires. hone loads it, or a
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

class GpuKernel : public QueuedKernel {
 public:
  // `scratch`: the address of the launch's scratch memory. `code` is machine code, or PTX,
  // which the driver compiles (tens of milliseconds, one at a time in a process). Failures: code
  // for another GPU, which is not passed to the driver; the driver's words and its compiler's log;
  // no such entry. Also a block or shared memory that this GPU cannot give, and own memory that the
  // module does not have.
  static Result<std::unique_ptr<GpuKernel>> load(std::shared_ptr<GpuContext> gpu,
                                                 std::string_view code,
                                                 const LaunchParameters& parameters,
                                                 DevicePointer scratch = 0);
  ~GpuKernel() override;
  GpuKernel(const GpuKernel&) = delete;
  GpuKernel& operator=(const GpuKernel&) = delete;

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
  GpuKernel(std::shared_ptr<GpuContext> gpu, const LaunchParameters& parameters,
            DevicePointer scratch);
  Status load_module(std::string_view code);
  Status find_function();
  Status fill_guards();

  std::shared_ptr<GpuContext> gpu_;
  LaunchParameters parameters_;
  FunctionFacts facts_;
  ModuleHandle module_ = nullptr;
  FunctionHandle function_ = nullptr;
  TensorMaps maps_;
  LaunchValues arguments_;
  std::vector<DevicePointer> guards_;  // of own memory: before and behind each
};

// Kernels that run one after the other as one, and the memory they share.
class KernelSequence : public QueuedKernel {
 public:
  // Loads every kernel of `parameters` from its part of `code`. Failures as GpuKernel::load, and
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
  std::vector<std::unique_ptr<GpuKernel>> kernels_;
  DevicePointer scratch_ = 0;
};

}  // namespace hone::device::gpu
