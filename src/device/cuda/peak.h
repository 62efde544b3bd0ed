// Measures the peak throughput of a GPU.
#pragma once

#include "device/cuda/gpu_context.h"
#include "device/device.h"

namespace hone::device::cuda {

// A pair of events around work on the GPU.
class Stopwatch {
 public:
  static Result<Stopwatch> create(std::shared_ptr<GpuContext> gpu);
  ~Stopwatch();
  Stopwatch(Stopwatch&& other) noexcept;
  Stopwatch& operator=(Stopwatch&&) = delete;

  Status start();
  // Waits for the work enqueued since start(); returns its seconds (resolution about 0.5
  // microseconds).
  Result<double> stop();

 private:
  explicit Stopwatch(std::shared_ptr<GpuContext> gpu) : gpu_(std::move(gpu)) {}
  std::shared_ptr<GpuContext> gpu_;
  Event start_ = nullptr;
  Event end_ = nullptr;
};

// Floating-point operations that the tensor cores of one multiprocessor of this compute capability
// do per clock on dense f16 operands with sums in f32: NVIDIA's peak figures over multiprocessors
// and boost clock (A100 312 TFLOP/s, GA102, H100 and H200 989, B200 2250: their data sheets). 0 for
// others; 8.9 is in GPUs of two rates.
double tensor_flops_per_clock(int capability);

// f32 multiply-adds, matrix instructions, and bytes read and written by a copy within the GPU's
// memory; the best of several short runs each, after a warm-up.
Result<Peak> measure_peak(const std::shared_ptr<GpuContext>& gpu);

}  // namespace hone::device::cuda
