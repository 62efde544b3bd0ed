#include "device/cuda/peak.h"

#include <algorithm>

#include "device/cuda/kernel.h"
#include "device/cuda/own_kernels.h"

namespace hone::device::cuda {
namespace {

// Clocks ramp up during the first runs.
constexpr int kRuns = 12;
constexpr std::uint32_t kRounds = 20000;
constexpr std::size_t kMostCopied = std::size_t{1} << 30;

Result<double> flops_per_second(const std::shared_ptr<GpuContext>& gpu, Stopwatch& watch,
                                const OwnKernel& own) {
  HONE_ASSIGN(const auto kernel, CudaKernel::load(gpu, own.code, own.parameters));
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

Result<double> bytes_per_second(GpuContext& gpu, Stopwatch& watch) {
  const DriverApi& call = gpu.call();
  std::size_t free = 0, total = 0;
  HONE_TRY(gpu.check(call.memory_info(&free, &total), "asking for free memory"));
  const std::size_t bytes = std::min(kMostCopied, free / 8) / 512 * 512;
  Address memory = 0;
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

Result<Stopwatch> Stopwatch::create(std::shared_ptr<GpuContext> gpu) {
  Stopwatch watch(std::move(gpu));
  for (Event* event : {&watch.start_, &watch.end_})
    HONE_TRY(watch.gpu_->check(watch.gpu_->call().event_create(event, 0), "making an event"));
  return watch;
}

Stopwatch::~Stopwatch() {
  for (Event event : {start_, end_})
    if (event != nullptr) gpu_->call().event_destroy(event);
}

Stopwatch::Stopwatch(Stopwatch&& other) noexcept
    : gpu_(other.gpu_),
      start_(std::exchange(other.start_, nullptr)),
      end_(std::exchange(other.end_, nullptr)) {}

Status Stopwatch::start() {
  return gpu_->check(gpu_->call().event_record(start_, nullptr), "starting to time");
}

Result<double> Stopwatch::stop() {
  const DriverApi& call = gpu_->call();
  HONE_TRY(gpu_->check(call.event_record(end_, nullptr), "ending to time"));
  HONE_TRY(gpu_->check(call.event_synchronize(end_), "running the kernel"));
  float milliseconds = 0;
  HONE_TRY(gpu_->check(call.event_milliseconds(&milliseconds, start_, end_), "timing"));
  return static_cast<double>(milliseconds) * 1e-3;
}

double tensor_flops_per_clock(int capability) {
  switch (capability) {
    case 80:
      return 2048;
    case 86:
      return 512;
    case 90:
      return 4096;
    case 100:
      return 8192;
    default:
      return 0;
  }
}

Result<Peak> measure_peak(const std::shared_ptr<GpuContext>& gpu) {
  HONE_ASSIGN(Stopwatch watch, Stopwatch::create(gpu));
  const int multiprocessors = gpu->facts().multiprocessors;
  Peak peak;
  HONE_ASSIGN(const double flops,
              flops_per_second(gpu, watch, multiply_add_kernel(multiprocessors, kRounds)));
  HONE_ASSIGN(const double matrix,
              flops_per_second(gpu, watch, matrix_kernel(multiprocessors, kRounds / 4)));
  HONE_ASSIGN(const double bytes, bytes_per_second(*gpu, watch));
  peak.gflops = flops * 1e-9;
  peak.matrix_gflops = matrix * 1e-9;
  peak.stated_matrix_gflops = tensor_flops_per_clock(gpu->facts().capability) * multiprocessors *
                              gpu->facts().megahertz * 1e-3;
  peak.gbytes_per_second = bytes * 1e-9;
  peak.instructions = fmt::format("{} fma.f32, mma.sync f16", gpu->facts().arch());
  peak.threads = multiprocessors;
  return peak;
}

}  // namespace hone::device::cuda
