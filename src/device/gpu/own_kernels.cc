#include "device/gpu/own_kernels.h"

#include <algorithm>

#include "device/gpu/kernel.h"

namespace hone::device::gpu {

OwnKernel work_kernel(std::string code, std::string entry, int units, std::uint32_t rounds,
                      double flops) {
  const int blocks = units * kWorkBlocksPerUnit;
  return {.code = std::move(code),
          .parameters = {.entry = std::move(entry),
                         .grid = {static_cast<std::uint32_t>(blocks), 1, 1},
                         .block = {kWorkThreads, 1, 1},
                         .constants = {rounds}},
          .flops = flops * blocks * kWorkThreads * rounds};
}

namespace {

// Clocks ramp up during the first runs.
constexpr int kRuns = 12;
constexpr std::uint32_t kRounds = 20000;
constexpr std::size_t kMostCopied = std::size_t{1} << 30;

Result<double> flops_per_second(const std::shared_ptr<GpuContext>& gpu, GpuStopwatch& watch,
                                const OwnKernel& own) {
  HONE_ASSIGN(const auto kernel, GpuKernel::load(gpu, own.code, own.parameters));
  const Buffer nowhere{};
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    HONE_TRY(watch.start());
    HONE_TRY(kernel->enqueue({&nowhere, 1}));
    HONE_ASSIGN(const double seconds, watch.stop());
    if (seconds > 0) best = std::max(best, own.flops / seconds);
  }
  return best;
}

Result<double> bytes_per_second(GpuContext& gpu, GpuStopwatch& watch) {
  const DriverApi& call = gpu.call();
  std::size_t free = 0, total = 0;
  HONE_TRY(gpu.check(call.memory_info(&free, &total), "asking for free memory"));
  const std::size_t bytes = std::min(kMostCopied, free / 8) / 512 * 512;
  DevicePointer memory = 0;
  HONE_TRY(gpu.check(call.memory_allocate(&memory, 2 * bytes), "taking memory"));
  double best = 0;
  Status status = gpu.check(call.set_bytes(memory, 1, 2 * bytes), "clearing memory");
  for (int run = 0; run < kRuns && status; ++run) {
    status = watch.start();
    if (status)
      status = gpu.check(call.copy_on_device(memory, memory + bytes, bytes, nullptr), "copying");
    const Result<double> seconds = watch.stop();
    if (seconds && *seconds > 0) best = std::max(best, 2.0 * static_cast<double>(bytes) / *seconds);
  }
  call.memory_free(memory);
  HONE_TRY(status);
  return best;
}

}  // namespace

Result<Peak> measure_peak(const std::shared_ptr<GpuContext>& gpu, const OwnKernels& kernels) {
  HONE_ASSIGN(GpuStopwatch watch, GpuStopwatch::create(gpu));
  Peak peak;
  if (const auto kernel = kernels.multiply_add(kRounds)) {
    HONE_ASSIGN(const double flops, flops_per_second(gpu, watch, *kernel));
    peak.gflops = flops * 1e-9;
  }
  if (const auto kernel = kernels.matrix(kRounds / 4)) {
    HONE_ASSIGN(const double flops, flops_per_second(gpu, watch, *kernel));
    peak.matrix_gflops = flops * 1e-9;
  }
  HONE_ASSIGN(const double bytes, bytes_per_second(*gpu, watch));
  peak.stated_matrix_gflops = kernels.stated_matrix_gflops;
  peak.gbytes_per_second = bytes * 1e-9;
  peak.instructions = fmt::format("{} {}", gpu->facts().arch, kernels.instructions);
  peak.threads = gpu->facts().units;
  return peak;
}

}  // namespace hone::device::gpu
