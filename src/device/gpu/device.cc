#include "device/gpu/device.h"

#include <algorithm>

#include "device/gpu/comparer.h"
#include "device/gpu/kernel.h"
#include "problem/code_target.h"

namespace hone::device::gpu {
namespace {

// The driver's queue holds 1,024 launches; what comes then waits until there is room.
constexpr std::size_t kQueued = 800;
// A monitor takes up to milliseconds to answer, from values that are renewed no more often.
constexpr double kClockSeconds = 0.02;
// About 0.1 ms on a GPU of this decade.
constexpr std::uint32_t kCalibrationRounds = 1500;
// Some 10 microseconds on a GPU of this decade.
constexpr std::size_t kCopiedBytes = std::size_t{8} << 20;

// A kernel of hone's own, which needs a binding that it does not use.
class FixedWork : public QueuedKernel {
 public:
  explicit FixedWork(std::unique_ptr<GpuKernel> kernel) : kernel_(std::move(kernel)) {}
  Status launch(std::span<const Buffer>) override { return kernel_->launch({&nowhere_, 1}); }
  Status enqueue(std::span<const Buffer>) override { return kernel_->enqueue({&nowhere_, 1}); }

 private:
  std::unique_ptr<GpuKernel> kernel_;
  Buffer nowhere_{};
};

// A copy within the GPU's memory: fixed work where no kernel can be compiled.
class FixedCopy : public QueuedKernel {
 public:
  static std::unique_ptr<FixedCopy> create(std::shared_ptr<GpuContext> gpu) {
    DevicePointer memory = 0;
    const DriverApi& call = gpu->call();
    if (call.memory_allocate(&memory, 2 * kCopiedBytes) != 0) return nullptr;
    std::unique_ptr<FixedCopy> copy(new FixedCopy(std::move(gpu), memory));
    return call.set_bytes(memory, 0, 2 * kCopiedBytes) == 0 ? std::move(copy) : nullptr;
  }
  ~FixedCopy() override { gpu_->call().memory_free(memory_); }
  FixedCopy(const FixedCopy&) = delete;
  FixedCopy& operator=(const FixedCopy&) = delete;

  Status launch(std::span<const Buffer> bindings) override {
    HONE_TRY(enqueue(bindings));
    return gpu_->wait("copying");
  }
  Status enqueue(std::span<const Buffer>) override {
    return gpu_->check(
        gpu_->call().copy_on_device(memory_, memory_ + kCopiedBytes, kCopiedBytes, nullptr),
        "copying");
  }

 private:
  FixedCopy(std::shared_ptr<GpuContext> gpu, DevicePointer memory)
      : gpu_(std::move(gpu)), memory_(memory) {}
  std::shared_ptr<GpuContext> gpu_;
  DevicePointer memory_ = 0;
};

}  // namespace

class OpenGpu {
 public:
  OpenGpu(const Vendor& vendor, std::shared_ptr<GpuContext> context)
      : vendor_(vendor),
        context_(std::move(context)),
        monitor_(vendor_.monitor(context_->facts())),
        kernels_(vendor_.own_kernels(*context_)) {}

  const Vendor& vendor() const { return vendor_; }
  const std::shared_ptr<GpuContext>& context() const { return context_; }
  const std::optional<Monitor>& monitor() const { return monitor_; }
  const OwnKernels& kernels() const { return kernels_; }
  // Returns null if it cannot be compiled; compiles at most once.
  Comparer* comparer() {
    if (!comparer_asked_) {
      comparer_asked_ = true;
      auto comparer = kernels_.comparison().and_then(
          [&](const std::string& module) { return Comparer::create(context_, module); });
      if (comparer) comparer_ = std::move(*comparer);
    }
    return comparer_ ? &*comparer_ : nullptr;
  }

 private:
  Vendor vendor_;
  std::shared_ptr<GpuContext> context_;
  std::optional<Monitor> monitor_;
  OwnKernels kernels_;
  bool comparer_asked_ = false;
  std::optional<Comparer> comparer_;
};

namespace {

class GpuDevice : public Device {
 public:
  GpuDevice(std::shared_ptr<OpenGpu> open, GpuStopwatch watch)
      : open_(std::move(open)),
        gpu_(open_->context()),
        watch_(std::move(watch)),
        last_look_(raw_seconds()) {}

  std::string_view kind() const override { return open_->vendor().kind; }
  int threads() const override { return 1; }
  bool is_lost() const override { return gpu_->driver().is_lost(); }

  Result<std::unique_ptr<Kernel>> load(std::string_view format, std::string_view code,
                                       const LaunchParameters& parameters) override {
    if (!open_->vendor().loads(format)) {
      HONE_TRY(problem::check_code_target(code, gpu_->facts().arch));
      return failure("{}, not '{}'", open_->vendor().formats, format);
    }
    if (!parameters.then.empty() || parameters.scratch_bytes > 0) return sequence(code, parameters);
    HONE_ASSIGN(auto kernel, GpuKernel::load(gpu_, code, parameters));
    return kernel;
  }

  Result<BatchTime> time(Kernel& kernel, std::span<const std::vector<Buffer>> rotation,
                         std::size_t first, std::size_t launches) override;

  bool has_own_memory() const override { return true; }
  std::int64_t last_level_cache() const override { return gpu_->facts().last_level_cache_bytes; }
  std::int64_t free_memory() override {
    std::size_t free = 0, total = 0;
    return gpu_->call().memory_info(&free, &total) == 0 ? static_cast<std::int64_t>(free) : 0;
  }
  Result<void*> allocate(std::size_t bytes) override {
    DevicePointer address = 0;
    HONE_TRY(check(gpu_->call().memory_allocate(&address, std::max<std::size_t>(bytes, 1)),
                   fmt::format("taking {} bytes of memory", bytes)));
    return reinterpret_cast<void*>(address);
  }
  void release(void* memory) override {
    gpu_->call().memory_free(reinterpret_cast<DevicePointer>(memory));
  }
  Status upload(void* to, std::span<const std::byte> from) override {
    if (from.empty()) return {};
    return check(
        gpu_->call().copy_to_device(reinterpret_cast<DevicePointer>(to), from.data(), from.size()),
        "copying to the GPU");
  }
  Status download(std::span<std::byte> to, const void* from) override {
    if (to.empty()) return {};
    return check(
        gpu_->call().copy_to_host(to.data(), reinterpret_cast<DevicePointer>(from), to.size()),
        "copying from the GPU");
  }
  Status copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return {};
    return check(gpu_->call().copy_on_device(reinterpret_cast<DevicePointer>(to),
                                             reinterpret_cast<DevicePointer>(from), bytes, nullptr),
                 "copying on the GPU");
  }
  Result<std::optional<Difference>> difference(const void* got, const void* expected,
                                               problem::ElementType type, std::int64_t count,
                                               double absolute, double relative) override {
    Comparer* const comparer = open_->comparer();
    if (comparer == nullptr) return std::nullopt;
    return comparer->difference(got, expected, type, count, absolute, relative);
  }

  double busy_seconds() const override { return gpu_->busy_seconds(); }
  const std::shared_ptr<GpuContext>& gpu() const { return gpu_; }

  Peak measure_peak() override {
    return gpu::measure_peak(gpu_, open_->kernels()).value_or(Peak{});
  }
  MachineState machine_state() override {
    MachineState state;
    const double time = raw_seconds();
    state.seconds = time - last_look_;
    last_look_ = time;
    if (open_->monitor()) state.gpus.push_back(open_->monitor()->state());
    return state;
  }
  MachineState detailed_machine_state() override { return machine_state(); }

  std::unique_ptr<Kernel> calibration_kernel() override {
    const auto own = open_->kernels().multiply_add(kCalibrationRounds);
    if (!own) return FixedCopy::create(gpu_);
    auto kernel = GpuKernel::load(gpu_, own->code, own->parameters);
    if (!kernel) return nullptr;
    return std::make_unique<FixedWork>(std::move(*kernel));
  }

 private:
  Result<std::unique_ptr<Kernel>> sequence(std::string_view code,
                                           const LaunchParameters& parameters) {
    HONE_ASSIGN(auto kernels, KernelSequence::load(gpu_, code, parameters));
    return kernels;
  }

  Status check(DriverCode code, std::string_view doing) { return gpu_->check(code, doing); }
  Status pause(const QueuedKernel& kernel, std::size_t launches);
  bool is_held_down();

  std::shared_ptr<OpenGpu> open_;
  std::shared_ptr<GpuContext> gpu_;
  GpuStopwatch watch_;
  std::unique_ptr<GpuKernel> pause_;
  double last_look_ = 0;
  double last_clock_ = 0;
  bool held_down_ = false;
};

// Keeps the GPU busy while launches queue up, so that it need not wait for launches within a batch.
// Kernels longer than a launch hide those behind them themselves, all but the first. Where the
// pause cannot be compiled there is none.
Status GpuDevice::pause(const QueuedKernel& kernel, std::size_t launches) {
  const bool is_short = kernel.seconds_of_last < 2 * kernel.launch_seconds;
  const std::size_t queued = is_short ? std::min(launches, kQueued) : 4;
  const auto nanoseconds =
      static_cast<std::uint32_t>(1e9 * kernel.launch_seconds * static_cast<double>(queued));
  const auto own = open_->kernels().pause(nanoseconds);
  if (!own) return {};
  if (!pause_) {
    HONE_ASSIGN(pause_, GpuKernel::load(gpu_, own->code, own->parameters));
  }
  pause_->set_constants(own->parameters.constants);
  const Buffer nowhere{};
  return pause_->enqueue({&nowhere, 1});
}

bool GpuDevice::is_held_down() {
  const std::optional<Monitor>& monitor = open_->monitor();
  if (!monitor || (!held_down_ && raw_seconds() - last_clock_ < kClockSeconds)) return held_down_;
  last_clock_ = raw_seconds();
  const auto megahertz = monitor->megahertz();
  held_down_ = monitor->is_slowed() || (megahertz && *megahertz < monitor->least_megahertz);
  return held_down_;
}

Result<BatchTime> GpuDevice::time(Kernel& kernel, std::span<const std::vector<Buffer>> rotation,
                                  std::size_t first, std::size_t launches) {
  auto* const queued = dynamic_cast<QueuedKernel*>(&kernel);
  if (queued == nullptr) return failure("this kernel is not one of the GPU's");
  HONE_TRY(pause(*queued, launches));
  HONE_TRY(watch_.start());
  std::size_t next = first % rotation.size();
  for (std::size_t i = 0; i < launches; ++i) {
    HONE_TRY(queued->enqueue(rotation[next]));
    if (++next == rotation.size()) next = 0;
  }
  HONE_ASSIGN(const double seconds, watch_.stop());
  gpu_->add_busy(seconds);
  queued->seconds_of_last = seconds / static_cast<double>(std::max<std::size_t>(launches, 1));
  return BatchTime{.seconds = seconds,
                   .cpu_seconds = seconds,
                   .involuntary_switches = 0,
                   .disturbed = is_held_down()};
}

}  // namespace

std::shared_ptr<GpuContext> gpu_of(Device& device, std::string_view kind) {
  const auto* const gpu = dynamic_cast<const GpuDevice*>(&device);
  return gpu != nullptr && gpu->kind() == kind ? gpu->gpu() : nullptr;
}

Result<std::shared_ptr<OpenGpu>> open_gpu(const Vendor& vendor, std::shared_ptr<Driver> driver,
                                          const GpuFacts& facts) {
  HONE_ASSIGN(auto context, GpuContext::open(std::move(driver), facts));
  return std::make_shared<OpenGpu>(vendor, std::move(context));
}

Result<std::unique_ptr<Device>> make_device(std::shared_ptr<OpenGpu> gpu) {
  HONE_ASSIGN(GpuStopwatch watch, GpuStopwatch::create(gpu->context()));
  return std::make_unique<GpuDevice>(std::move(gpu), std::move(watch));
}

Result<std::unique_ptr<Device>> open_device(const Vendor& vendor, std::shared_ptr<Driver> driver,
                                            const GpuFacts& facts) {
  HONE_ASSIGN(auto gpu, open_gpu(vendor, std::move(driver), facts));
  return make_device(std::move(gpu));
}

}  // namespace hone::device::gpu
