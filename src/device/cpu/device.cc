#include "device/cpu/device.h"

#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <random>

#include "device/cpu/executable.h"
#include "device/cpu/launch.h"
#include "device/cpu/machine_state.h"
#include "device/cpu/peak.h"
#include "device/cpu/peak_loops.h"
#include "device/cpu/thread_pool.h"
#include "device/raw_clock.h"

namespace hone::device::cpu {
namespace {

// A thread that went without its core for more than this share of a batch was preempted for long
// enough to matter; below kLeastLoss seconds the clocks' own cost is of that size.
constexpr double kMostLost = 0.01;
constexpr double kLeastLoss = 20e-6;
// Most involuntary switches per second of an undisturbed core. Kernel threads take a core for some
// microseconds now and then, which changes nothing; above this rate, another process runs there.
constexpr double kMostSwitches = 100;

bool is_disturbed(const BatchTime& batch) {
  const double lost = batch.seconds - batch.cpu_seconds;
  return (lost > kLeastLoss && lost > kMostLost * batch.seconds) ||
         static_cast<double>(batch.involuntary_switches) > 1 + kMostSwitches * batch.seconds;
}

long involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

class CpuKernel : public Kernel {
 public:
  explicit CpuKernel(Executable executable)
      : executable_(std::make_unique<Executable>(std::move(executable))) {}

  Status bind(ThreadPool& pool, const LaunchParameters& parameters) {
    HONE_ASSIGN(dispatch_, Dispatch::create(pool, *executable_, parameters));
    return {};
  }
  Status launch(std::span<const Buffer> bindings) override { return dispatch_->launch(bindings); }

 private:
  std::unique_ptr<Executable> executable_;
  std::optional<Dispatch> dispatch_;
};

// Fixed work on every thread of a pool. Each launch reads and writes half a typical L2 per thread
// and does as much arithmetic again in registers. It takes about 0.1 ms and is sensitive to clocks
// and to other work that shares a core or its caches.
class CalibrationKernel final : public Kernel {
 public:
  // `pool` must live longer. Each thread touches its memory first, so that it lies near its core.
  explicit CalibrationKernel(ThreadPool& pool)
      : pool_(pool), memory_(static_cast<std::size_t>(pool.size())) {
    pool_.run(
        [this](int thread) { memory_[static_cast<std::size_t>(thread)].assign(kFloats, 1.0f); });
  }

  Status launch(std::span<const Buffer>) override {
    pool_.run([this](int thread) {
      // Halving the distance to two: bounded, never denormal, and no pass can be left out.
      for (int pass = 0; pass < kPasses; ++pass)
        for (float& value : memory_[static_cast<std::size_t>(thread)]) value = 0.5f * value + 1.0f;
      peak_loops().back().run(kRounds);
    });
    return {};
  }

 private:
  static constexpr std::size_t kFloats = (std::size_t{256} << 10) / sizeof(float);
  static constexpr int kPasses = 4;
  // The portable loop, not the widest one: every machine has it, and it heats nothing.
  static constexpr long kRounds = 3000;

  ThreadPool& pool_;
  std::vector<std::vector<float>> memory_;  // by thread
};

class CpuDevice : public Device {
 public:
  explicit CpuDevice(std::unique_ptr<ThreadPool> pool)
      : pool_(std::move(pool)), sampler_(pool_->cores()) {}

  std::string_view kind() const override { return "cpu"; }
  int threads() const override { return pool_->size(); }

  Result<std::unique_ptr<Kernel>> load(std::string_view format, std::string_view code,
                                       const LaunchParameters& parameters) override {
    if (format.find("elf") == std::string_view::npos)
      return failure("a CPU runs ELF shared objects, not '{}'", format);
    HONE_ASSIGN(Executable executable, Executable::load(code));
    auto kernel = std::make_unique<CpuKernel>(std::move(executable));
    HONE_TRY(kernel->bind(*pool_, parameters));
    return kernel;
  }

  Result<BatchTime> time(Kernel& kernel, std::span<const std::vector<Buffer>> rotation,
                         std::size_t first, std::size_t launches) override {
    if (kernel.uses_device_threads()) pool_->run([](int) {});  // wakes them, so that none is late
    const long switches = involuntary_switches();
    const std::vector<double> before = pool_->processor_seconds();
    const double start = raw_seconds();
    std::size_t next = first % rotation.size();
    for (std::size_t i = 0; i < launches; ++i) {
      HONE_TRY(kernel.launch(rotation[next]));
      if (++next == rotation.size()) next = 0;
    }
    const double end = raw_seconds();
    const std::vector<double> after = pool_->processor_seconds();

    BatchTime batch{.seconds = end - start,
                    .cpu_seconds = after[0] - before[0],
                    .involuntary_switches = involuntary_switches() - switches};
    for (std::size_t i = 1; kernel.uses_device_threads() && i < after.size(); ++i)
      batch.cpu_seconds = std::min(batch.cpu_seconds, after[i] - before[i]);
    batch.disturbed = is_disturbed(batch);
    return batch;
  }

  void vary_placement(std::uint64_t seed) override {
    constexpr std::size_t kLine = 64;
    std::mt19937_64 generator(seed);
    pool_->shift_stacks(generator() % (ThreadPool::kMostStackShift / kLine) * kLine);
  }
  Peak measure_peak() override { return cpu::measure_peak(*pool_); }
  MachineState machine_state() override { return sampler_.sample(); }
  MachineState detailed_machine_state() override { return sampler_.sample_in_detail(); }
  std::unique_ptr<Kernel> calibration_kernel() override {
    return std::make_unique<CalibrationKernel>(*pool_);
  }

 private:
  std::unique_ptr<ThreadPool> pool_;
  MachineSampler sampler_;
};

}  // namespace

Result<std::unique_ptr<Device>> open_device(std::span<const int> cores) {
  HONE_ASSIGN(auto pool, ThreadPool::create(cores));
  return std::make_unique<CpuDevice>(std::move(pool));
}

}  // namespace hone::device::cpu
