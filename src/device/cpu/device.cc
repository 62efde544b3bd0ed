#include "device/device.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "device/cpu/executable.h"
#include "device/cpu/kind.h"
#include "device/cpu/machine_state.h"
#include "device/cpu/peak.h"
#include "device/cpu/thread_pool.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hone::device::cpu {
namespace {

// A launch: every workgroup of a grid, called once. Binds an export of an executable and its grid
// to a pool. Executable and pool must outlive it.
class GridLaunch {
 public:
  // A failure when the export is missing or needs other constants, more local memory, or a larger
  // grid than the interface can state.
  static Result<GridLaunch> create(ThreadPool& pool, const Executable& executable,
                                   const LaunchParameters& parameters);

  // Calls every workgroup once, x fastest. One thread does so in a plain loop. Several threads take
  // workgroups from a counter: eight at a time if every thread gets at least eight, else one.
  // IREE's own local-task driver does the same (iree-org/iree,
  // runtime/src/iree/hal/drivers/local_task/block_processor.c at b48a595). So a candidate with few
  // or uneven workgroups loses here what it loses there. Denormal numbers are flushed to zero
  // meanwhile, as IREE's drivers do. Fails if the number of bindings is not the export's, or if the
  // kernel returns an error.
  Status launch(std::span<const Buffer> bindings);

 private:
  GridLaunch() = default;
  Status check(int error) const;

  ThreadPool* pool_ = nullptr;
  const Executable* executable_ = nullptr;
  const Export* entry_ = nullptr;
  abi::DispatchFunction function_ = nullptr;
  std::array<std::uint32_t, 3> grid_{1, 1, 1};
  std::uint32_t per_reservation_ = 1;  // workgroups a thread takes at once
  std::vector<std::uint32_t> constants_;
  std::vector<problem::KernelBinding> bindings_;
  std::vector<void*> pointers_;
  std::vector<std::size_t> lengths_;
  abi::DispatchState state_{};
  // Scratch of one workgroup per thread, page aligned.
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> local_memory_;
};

// MAX_TILES_PER_RESERVATION of IREE's block_processor.c.
constexpr std::uint32_t kReservation = 8;

// Flushes denormals to zero, in results and operands, while it lives.
class FlushDenormals {
 public:
#if defined(__x86_64__)
  FlushDenormals() : former_(_mm_getcsr()) {
    _mm_setcsr(former_ | 0x8040u);
  }
  ~FlushDenormals() {
    _mm_setcsr(former_);
  }

 private:
  unsigned former_;
#elif defined(__aarch64__)
  // FZ and FZ16 of FPCR.
  FlushDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(former_));
    asm volatile("msr fpcr, %0" : : "r"(former_ | 0x1080000u));
  }
  ~FlushDenormals() {
    asm volatile("msr fpcr, %0" : : "r"(former_));
  }

 private:
  std::uint64_t former_ = 0;
#else
  FlushDenormals() {}
#endif
};

void GridLaunch::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

Result<GridLaunch> GridLaunch::create(ThreadPool& pool, const Executable& executable,
                                      const LaunchParameters& parameters) {
  HONE_ASSIGN(const Export* entry, executable.find(parameters.entry, parameters.ordinal));
  if (static_cast<int>(parameters.constants.size()) != entry->constants)
    return failure("export '{}' reads {} constants, but the launch has {}", entry->name,
                   entry->constants, parameters.constants.size());
  const auto& grid = parameters.grid;
  const std::uint64_t workgroups = std::uint64_t{grid[0]} * grid[1] * grid[2];
  if (workgroups == 0 || grid[2] > std::numeric_limits<std::uint16_t>::max() ||
      std::uint64_t{grid[0]} * grid[1] > std::numeric_limits<std::uint32_t>::max() ||
      workgroups > std::numeric_limits<std::uint32_t>::max())
    return failure("a grid of {}x{}x{} workgroups cannot be launched", grid[0], grid[1], grid[2]);

  GridLaunch launch;
  launch.pool_ = &pool;
  launch.executable_ = &executable;
  launch.entry_ = entry;
  launch.function_ = executable.function(entry->ordinal);
  launch.grid_ = grid;
  const auto threads = static_cast<std::uint32_t>(pool.size());
  launch.per_reservation_ = workgroups < std::uint64_t{threads} * kReservation ? 1 : kReservation;
  launch.constants_ = parameters.constants;
  launch.bindings_ = parameters.bindings;
  const std::size_t bytes =
      std::max<std::size_t>(entry->local_memory_bytes, parameters.shared_bytes);
  for (std::uint32_t i = 0; bytes > 0 && i < threads; ++i) {
    const std::size_t page = abi::kLocalMemoryPageSize;
    void* memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
    if (!memory) return environment_error("no {} bytes of local memory for a workgroup", bytes);
    launch.local_memory_.emplace_back(static_cast<std::byte*>(memory));
  }
  launch.state_ = {
      .workgroup_size_x = std::max(1u, parameters.block[0]),
      .workgroup_size_y = std::max(1u, parameters.block[1]),
      .workgroup_size_z = static_cast<std::uint16_t>(std::max(1u, parameters.block[2])),
      .constant_count = static_cast<std::uint16_t>(launch.constants_.size()),
      .workgroup_count_x = grid[0],
      .workgroup_count_y = grid[1],
      .workgroup_count_z = static_cast<std::uint16_t>(grid[2]),
      .max_concurrency = static_cast<std::uint8_t>(std::min(threads, 255u)),
      .binding_count = static_cast<std::uint8_t>(entry->bindings),
      .constants = nullptr,
      .binding_pointers = nullptr,
      .binding_lengths = nullptr};
  launch.pointers_.resize(static_cast<std::size_t>(entry->bindings));
  launch.lengths_.resize(static_cast<std::size_t>(entry->bindings));
  return launch;
}

Status GridLaunch::launch(std::span<const Buffer> bindings) {
  const std::size_t bound = bindings_.empty() ? bindings.size() : bindings_.size();
  if (bound != pointers_.size())
    return failure("export '{}' takes {} buffers, but {} are bound", entry_->name, pointers_.size(),
                   bound);
  for (std::size_t i = 0; i < bound; ++i) {
    const Buffer buffer = bound_buffer(bindings_, i, bindings);
    pointers_[i] = buffer.data;
    lengths_[i] = buffer.bytes;
  }
  state_.constants = constants_.data();
  state_.binding_pointers = pointers_.data();
  state_.binding_lengths = lengths_.data();

  const std::uint32_t row = grid_[0], plane = grid_[0] * grid_[1], all = plane * grid_[2];
  auto call = [&](std::uint32_t index, abi::WorkgroupState& workgroup) {
    workgroup.workgroup_id_x = index % row;
    workgroup.workgroup_id_y = index / row % grid_[1];
    workgroup.workgroup_id_z = static_cast<std::uint16_t>(index / plane);
    return function_(&executable_->environment(), &state_, &workgroup);
  };
  auto workgroup_of = [&](int thread) {
    return abi::WorkgroupState{
        .workgroup_id_x = 0,
        .workgroup_id_y = 0,
        .workgroup_id_z = 0,
        .reserved = 0,
        .processor_id = static_cast<std::uint32_t>(thread),
        .local_memory =
            local_memory_.empty() ? nullptr : local_memory_[static_cast<std::size_t>(thread)].get(),
        .local_memory_size = local_memory_.empty() ? 0 : entry_->local_memory_bytes};
  };

  if (pool_->size() == 1) {
    int error = 0;
    pool_->run([&](int thread) {
      const FlushDenormals flush;
      abi::WorkgroupState workgroup = workgroup_of(thread);
      for (std::uint32_t index = 0; index < all && error == 0; ++index)
        error = call(index, workgroup);
    });
    return check(error);
  }

  alignas(64) std::atomic<std::uint64_t> next{0};
  alignas(64) std::atomic<int> first_error{0};
  pool_->run([&](int thread) {
    const FlushDenormals flush;
    abi::WorkgroupState workgroup = workgroup_of(thread);
    for (;;) {
      const std::uint64_t from = next.fetch_add(per_reservation_, std::memory_order_relaxed);
      if (from >= all) return;
      const std::uint64_t to = std::min<std::uint64_t>(from + per_reservation_, all);
      for (std::uint64_t index = from; index < to; ++index)
        if (const int error = call(static_cast<std::uint32_t>(index), workgroup); error != 0) {
          first_error.store(error, std::memory_order_relaxed);
          return;
        }
    }
  });
  return check(first_error.load(std::memory_order_relaxed));
}

Status GridLaunch::check(int error) const {
  if (error == 0) return {};
  return failure("the kernel '{}' returned the error {}", entry_->name, error);
}

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
    HONE_ASSIGN(launch_, GridLaunch::create(pool, *executable_, parameters));
    return {};
  }
  Status launch(std::span<const Buffer> bindings) override { return launch_->launch(bindings); }

 private:
  std::unique_ptr<Executable> executable_;
  std::optional<GridLaunch> launch_;
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
      // Halving the distance to two: bounded, never denormal, and no pass can be skipped.
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
