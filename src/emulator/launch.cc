#include "emulator/launch.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/wave.h"

namespace hone::emulator {
namespace {

// Registers hold this before they are written: NaN in every format, and no small number.
constexpr std::uint32_t kUnwritten = 0xffffffffu;

// Makes bytes part of the memory for the time of a launch, unless they are already.
class RegisteredBytes {
 public:
  RegisteredBytes(Memory& memory, std::span<const std::byte> bytes, bool writable)
      : memory_(memory), begin_(bytes.data()) {
    added_ = memory.size_of(begin_) == 0;
    if (added_) memory.add(begin_, bytes.size(), writable);
  }
  ~RegisteredBytes() {
    if (added_) memory_.remove(begin_);
  }
  RegisteredBytes(const RegisteredBytes&) = delete;
  RegisteredBytes& operator=(const RegisteredBytes&) = delete;

 private:
  Memory& memory_;
  const void* begin_;
  bool added_ = false;
};

// Arguments as the kernel reads them: explicit ones as given, hidden ones by the sizes (LLVM
// AMDGPUUsage, "Code Object V5 Metadata"). Longer than the kernel says, since scalar loads of
// several dwords may read past the last argument.
std::vector<std::byte> argument_block(const Kernel& kernel, const LaunchSizes& sizes,
                                      std::span<const std::byte> given) {
  std::vector<std::byte> block(std::max<std::size_t>(kernel.argument_bytes, given.size()) + 256);
  std::memcpy(block.data(), given.data(), given.size());
  for (const KernelArgument& argument : kernel.arguments) {
    if (!argument.is_hidden() || argument.size > 8) continue;
    std::uint64_t value = 0;
    constexpr const char* kAxes[] = {"x", "y", "z"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (argument.kind == std::string("hidden_block_count_") + kAxes[axis])
        value = sizes.groups[axis];
      if (argument.kind == std::string("hidden_group_size_") + kAxes[axis])
        value = sizes.threads[axis];
    }
    if (argument.kind == "hidden_grid_dims") {
      value = sizes.groups[2] * sizes.threads[2] > 1   ? 3
              : sizes.groups[1] * sizes.threads[1] > 1 ? 2
                                                       : 1;
    }
    if (argument.kind == "hidden_dynamic_lds_size") value = sizes.dynamic_local_bytes;
    if (argument.kind == "hidden_private_base") value = kPrivateBase >> 32;
    if (argument.kind == "hidden_shared_base") value = kSharedBase >> 32;
    std::memcpy(block.data() + argument.offset, &value, argument.size);
  }
  return block;
}

class Workgroups {
 public:
  Workgroups(const CodeObject& code, const Kernel& kernel, const LaunchSizes& sizes,
             const std::vector<std::byte>& arguments, Memory& memory, const LaunchOptions& options)
      : code_(code),
        kernel_(kernel),
        sizes_(sizes),
        arguments_(arguments),
        memory_(memory),
        options_(options) {
    const std::uint32_t threads = sizes.threads[0] * sizes.threads[1] * sizes.threads[2];
    const std::size_t count = (threads + kLanes - 1) / kLanes;
    waves_ = std::make_unique<Wave[]>(count);
    wave_count_ = count;
    local_.resize(kernel.local_bytes + sizes.dynamic_local_bytes);
    if (options.finds_races) races_.emplace(local_.size());
    threads_ = threads;
  }

  std::optional<Fault> run(std::array<std::uint32_t, 3> group) {
    std::fill(local_.begin(), local_.end(), std::byte{0xff});
    if (races_) races_->pass_barrier();
    for (std::size_t index = 0; index < wave_count_; ++index) start(waves_[index], index, group);
    const std::uint64_t turn = options_.order == WaveOrder::kInTurn ? 1 : ~std::uint64_t{0};
    for (bool any = true; any;) {
      bool runs = false;
      any = false;
      for (std::size_t at = 0; at < wave_count_; ++at) {
        Wave& wave = waves_[options_.order == WaveOrder::kReversed ? wave_count_ - 1 - at : at];
        if (wave.state == Wave::State::kRunning) run(wave, turn);
        if (wave.fault) return wave.fault;
        runs = runs || wave.state == Wave::State::kRunning;
        any = any || wave.state != Wave::State::kEnded;
      }
      if (!runs) pass_barrier();
    }
    counts_.waves += wave_count_;
    for (std::size_t index = 0; index < wave_count_; ++index) {
      counts_.changed_memory = counts_.changed_memory || waves_[index].changed_memory;
    }
    return std::nullopt;
  }

  const LaunchCounts& counts() const { return counts_; }

 private:
  void start(Wave& wave, std::size_t index, const std::array<std::uint32_t, 3>& group) {
    for (std::size_t at = 0; at < kernel_.vector_registers; ++at) wave.vector[at].fill(kUnwritten);
    for (std::size_t at = 0; at < std::min(kernel_.accumulator_registers, 256u); ++at) {
      wave.vector[kAccumulators + at].fill(kUnwritten);
    }
    wave.scalar.fill(0);
    wave.scc = false;
    wave.mode = kernel_.mode;
    wave.state = Wave::State::kRunning;
    wave.code_base = code_.base();
    wave.memory = &memory_;
    wave.lds = &local_;
    wave.races = races_ ? &*races_ : nullptr;
    wave.faults_beyond_local = options_.faults_beyond_local;
    wave.number = static_cast<int>(index);
    wave.fault.reset();
    wave.changed_memory = false;
    wave.forget_ranges();
    wave.scratch_lane_bytes = kernel_.private_bytes;
    wave.scratch.assign(std::size_t{kernel_.private_bytes} * kLanes, std::byte{0xff});
    wave.next = code_.program()
                    .index_at(kernel_.entry)
                    .value_or(static_cast<std::uint32_t>(code_.program().instructions().size()));
    set_scalars(wave, group);
    std::uint64_t exec = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto thread = static_cast<std::uint32_t>(index * kLanes + lane);
      if (thread >= threads_) break;
      exec |= std::uint64_t{1} << lane;
      const std::uint32_t x = thread % sizes_.threads[0];
      const std::uint32_t y = thread / sizes_.threads[0] % sizes_.threads[1];
      const std::uint32_t z = thread / (sizes_.threads[0] * sizes_.threads[1]);
      wave.vector[0][lane] = x | y << 10 | z << 20;  // packed on gfx90a and later
    }
    wave.set_scalar64(kExec, exec);
  }

  // The initial scalar registers in the order of LLVM AMDGPUUsage, "SGPR Register Set Up Order".
  void set_scalars(Wave& wave, const std::array<std::uint32_t, 3>& group) const {
    int next = 0;
    if (kernel_.has_dispatch_pointer)
      next += 2;  // null: nothing reads the packet here without a fault
    if (kernel_.has_queue_pointer) next += 2;
    if (kernel_.has_argument_pointer) {
      wave.set_scalar64(next, reinterpret_cast<std::uintptr_t>(arguments_.data()));
      next += 2;
    }
    if (kernel_.has_dispatch_id) next += 2;
    if (kernel_.has_private_size)
      wave.scalar[static_cast<std::size_t>(next++)] = kernel_.private_bytes;
    for (std::uint32_t dword = 0; dword < kernel_.preload_dwords; ++dword) {
      std::memcpy(&wave.scalar[static_cast<std::size_t>(next++)],
                  arguments_.data() + 4 * std::size_t{kernel_.preload_offset + dword}, 4);
    }
    auto number = static_cast<std::size_t>(kernel_.user_scalars);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (kernel_.group_numbers[axis]) wave.scalar[number++] = group[axis];
    }
  }

  void pass_barrier() {
    if (races_) races_->pass_barrier();
    for (std::size_t at = 0; at < wave_count_; ++at) {
      if (waves_[at].state == Wave::State::kAtBarrier) waves_[at].state = Wave::State::kRunning;
    }
  }

  // Runs a wave up to its next barrier, its end or `most` instructions.
  void run(Wave& wave, std::uint64_t most) {
    const std::vector<Instruction>& instructions = code_.program().instructions();
    const auto end = static_cast<std::uint32_t>(instructions.size());
    std::uint64_t executed = counts_.wave_instructions;
    for (; wave.state == Wave::State::kRunning && most > 0; --most) {
      const std::uint32_t at = wave.next;
      if (at >= end) {
        wave.fail(FaultKind::kUnknownInstruction, "the kernel left its code");
        break;
      }
      const Instruction& instruction = instructions[at];
      wave.next = at + 1;
      ++executed;
      wave.executed = executed;
      wave.execute(instruction);
      if (wave.state == Wave::State::kJumping) jump(wave);
      if (wave.state == Wave::State::kFaulted) explain(wave, at);
      if (executed >= options_.most_wave_instructions) {
        wave.fail(FaultKind::kInstructionLimit, fmt::format("no end after {} wave instructions",
                                                            options_.most_wave_instructions));
      }
    }
    counts_.wave_instructions = executed;
  }

  void jump(Wave& wave) const {
    const auto index = code_.program().index_at(wave.jump_to);
    if (!index) {
      wave.fail(FaultKind::kMemory,
                fmt::format("a jump to {:#x}, where no instruction begins", wave.jump_to),
                wave.jump_to);
      return;
    }
    wave.next = *index;
    wave.state = Wave::State::kRunning;
  }

  // Adds where it happened: the instruction, its address and the kernel.
  void explain(Wave& wave, std::uint32_t at) const {
    const Program& program = code_.program();
    std::string words = wave.fault->words;
    if (wave.fault->kind == FaultKind::kUnknownInstruction && words.empty())
      words = "the emulator does not know this instruction";
    wave.fault->words = fmt::format("{} (kernel {}, at {:#x}: {})", words, kernel_.name,
                                    program.instructions()[at].address, program.text(at));
  }

  const CodeObject& code_;
  const Kernel& kernel_;
  const LaunchSizes& sizes_;
  const std::vector<std::byte>& arguments_;
  Memory& memory_;
  const LaunchOptions& options_;
  std::unique_ptr<Wave[]> waves_;
  std::size_t wave_count_ = 0;
  std::uint32_t threads_ = 0;
  Lds local_;
  std::optional<RaceWatch> races_;
  LaunchCounts counts_;
};

std::optional<Fault> refused(const Kernel& kernel, const LaunchSizes& sizes) {
  const auto bad = [](std::string words) { return Fault{FaultKind::kBadLaunch, std::move(words)}; };
  const std::uint64_t threads =
      std::uint64_t{sizes.threads[0]} * sizes.threads[1] * sizes.threads[2];
  if (threads == 0 || sizes.groups[0] == 0 || sizes.groups[1] == 0 || sizes.groups[2] == 0)
    return bad("a launch of nothing");
  if (threads > kMostThreads || threads > kernel.most_threads) {
    return bad(fmt::format("{} threads in a workgroup of kernel {}, which allows {}", threads,
                           kernel.name, std::min(kernel.most_threads, kMostThreads)));
  }
  const std::uint64_t local = std::uint64_t{kernel.local_bytes} + sizes.dynamic_local_bytes;
  if (local > kLargestLocalBytes) {
    return bad(
        fmt::format("{} bytes of local memory, of which gfx942 has {}", local, kLargestLocalBytes));
  }
  return std::nullopt;
}

}  // namespace

tl::expected<LaunchCounts, Fault> launch(const CodeObject& code, const Kernel& kernel,
                                         const LaunchSizes& sizes,
                                         std::span<const std::byte> arguments, Memory& memory,
                                         const LaunchOptions& options) {
  if (std::optional<Fault> fault = refused(kernel, sizes)) return tl::unexpected(std::move(*fault));
  const std::vector<std::byte> block = argument_block(kernel, sizes, arguments);
  const RegisteredBytes image(memory, code.image(), true);
  const RegisteredBytes argument_bytes(memory, block, false);
  Workgroups workgroups(code, kernel, sizes, block, memory, options);
  for (std::uint32_t z = 0; z < sizes.groups[2]; ++z) {
    for (std::uint32_t y = 0; y < sizes.groups[1]; ++y) {
      for (std::uint32_t x = 0; x < sizes.groups[0]; ++x) {
        if (std::optional<Fault> fault = workgroups.run({x, y, z}))
          return tl::unexpected(std::move(*fault));
      }
    }
  }
  return workgroups.counts();
}

}  // namespace hone::emulator
