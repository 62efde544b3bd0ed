// hone's own kernels in PTX, for any GPU from sm_80 on: fixed work to calibrate and to find the
// peak with, a pause, and the comparison of arrays.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "device/cuda/gpu.h"
#include "device/cuda/kernel.h"
#include "device/device.h"

namespace hone::device::cuda {

// Parameters of each: an address, then one 32-bit word. Only an impossible result is written to the
// address, which keeps a compiler from removing the work.
struct OwnKernel {
  std::string code;
  LaunchParameters parameters;
  double flops = 0;  // of one launch
};

// Rounds of independent f32 multiply-adds on every thread, two blocks of 1024 per multiprocessor.
OwnKernel multiply_add_kernel(int multiprocessors, std::uint32_t rounds);
// Rounds of mma.sync m16n8k16, f16 inputs added up in f32, eight independent ones per warp.
OwnKernel matrix_kernel(int multiprocessors, std::uint32_t rounds);
// Runs a single thread that waits for `nanoseconds`. Launches queue up behind it, so that timing
// short kernels does not measure their launch overhead.
OwnKernel pause_kernel(std::uint32_t nanoseconds);

// A pair of events around work on the GPU.
class GpuStopwatch {
 public:
  static Result<GpuStopwatch> create(std::shared_ptr<GpuContext> gpu);
  ~GpuStopwatch();
  GpuStopwatch(GpuStopwatch&& other) noexcept;
  GpuStopwatch& operator=(GpuStopwatch&&) = delete;

  Status start();
  // Waits for the work enqueued since start(); returns its seconds (resolution about 0.5
  // microseconds).
  Result<double> stop();

 private:
  explicit GpuStopwatch(std::shared_ptr<GpuContext> gpu) : gpu_(std::move(gpu)) {}
  std::shared_ptr<GpuContext> gpu_;
  EventHandle start_ = nullptr;
  EventHandle end_ = nullptr;
};

// Floating-point operations that the tensor cores of one multiprocessor of this compute capability
// do per clock on dense f16 operands with sums in f32: NVIDIA's peak figures over multiprocessors
// and boost clock (A100 312 TFLOP/s, GA102, H100 and H200 989, B200 2250: their data sheets). 0 for
// others; 8.9 is in GPUs of two rates.
double tensor_flops_per_clock(int capability);

// Measures the peak throughput of a GPU: f32 multiply-adds, matrix instructions, and bytes read and
// written by a copy within the GPU's memory; the best of several short runs each, after a warm-up.
Result<Peak> measure_peak(const std::shared_ptr<GpuContext>& gpu);

// CUDA C++ of the kernels that compare arrays, one per element type.
std::string comparison_source();

// Comparison of arrays on the GPU, so that a correct output need not be fetched.
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
