#include "device/cpu/launch.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hone::device::cpu {
namespace {

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
#else
  FlushDenormals() {}
#endif
};

}  // namespace

void Dispatch::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

Result<Dispatch> Dispatch::create(ThreadPool& pool, const Executable& executable,
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

  Dispatch dispatch;
  dispatch.pool_ = &pool;
  dispatch.executable_ = &executable;
  dispatch.entry_ = entry;
  dispatch.function_ = executable.function(entry->ordinal);
  dispatch.grid_ = grid;
  const auto threads = static_cast<std::uint32_t>(pool.size());
  dispatch.per_reservation_ = workgroups < std::uint64_t{threads} * kReservation ? 1 : kReservation;
  dispatch.constants_ = parameters.constants;
  dispatch.bindings_ = parameters.bindings;
  const std::size_t bytes =
      std::max<std::size_t>(entry->local_memory_bytes, parameters.shared_bytes);
  for (std::uint32_t i = 0; bytes > 0 && i < threads; ++i) {
    const std::size_t page = abi::kLocalMemoryPageSize;
    void* memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
    if (!memory) return environment_error("no {} bytes of local memory for a workgroup", bytes);
    dispatch.local_memory_.emplace_back(static_cast<std::byte*>(memory));
  }
  dispatch.state_ = {
      .workgroup_size_x = std::max(1u, parameters.block[0]),
      .workgroup_size_y = std::max(1u, parameters.block[1]),
      .workgroup_size_z = static_cast<std::uint16_t>(std::max(1u, parameters.block[2])),
      .constant_count = static_cast<std::uint16_t>(dispatch.constants_.size()),
      .workgroup_count_x = grid[0],
      .workgroup_count_y = grid[1],
      .workgroup_count_z = static_cast<std::uint16_t>(grid[2]),
      .max_concurrency = static_cast<std::uint8_t>(std::min(threads, 255u)),
      .binding_count = static_cast<std::uint8_t>(entry->bindings),
      .constants = nullptr,
      .binding_pointers = nullptr,
      .binding_lengths = nullptr};
  dispatch.pointers_.resize(static_cast<std::size_t>(entry->bindings));
  dispatch.lengths_.resize(static_cast<std::size_t>(entry->bindings));
  return dispatch;
}

Status Dispatch::launch(std::span<const Buffer> bindings) {
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

Status Dispatch::check(int error) const {
  if (error == 0) return {};
  return failure("the kernel '{}' returned the error {}", entry_->name, error);
}

}  // namespace hone::device::cpu
