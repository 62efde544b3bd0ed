// Launches of a kernel on the emulated device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "emulator/code_object.h"
#include "emulator/fault.h"
#include "emulator/memory.h"

namespace hone::emulator {

// The order in which the waves of a workgroup run up to each barrier: the first wave first, the
// last wave first, or an instruction of each in turn. A program without races does not depend on
// it.
enum class WaveOrder : std::uint8_t { kForward, kReversed, kInTurn };

struct LaunchSizes {
  std::array<std::uint32_t, 3> groups{1, 1, 1};   // workgroups
  std::array<std::uint32_t, 3> threads{1, 1, 1};  // of a workgroup
  std::uint32_t dynamic_local_bytes = 0;
};

struct LaunchOptions {
  WaveOrder order = WaveOrder::kForward;
  std::uint64_t most_wave_instructions = std::uint64_t{20} * 1000 * 1000 * 1000;
  bool finds_races = false;  // a race in local memory is a fault
  // An access beyond local memory is a fault. Otherwise reads give NaN and writes are lost, so that
  // only code that uses them is wrong: the hardware gives 0, or what lies behind.
  bool faults_beyond_local = true;
};

struct LaunchCounts {
  std::uint64_t wave_instructions = 0;
  std::uint64_t waves = 0;
  bool changed_memory = false;  // a byte of an allocation got another value
};

// Raised with each change by which a launch may end otherwise: earlier verdicts do not count then.
constexpr int kRevision = 1;

// LDS of a compute unit, which one workgroup can have (MI300 ISA, chapter "Local Data Share").
constexpr std::uint32_t kLargestLocalBytes = 65536;
constexpr std::uint32_t kMostThreads = 1024;

// Runs all workgroups, one after the other, and in each the waves in the given order up to a
// barrier or their end.
//
// `arguments` are the kernel's explicit arguments as they lie in memory; hidden ones are filled in
// as HIP does. `memory` gets the code object and the arguments for the time of the launch. A fault
// ends the launch at once: what was written before stays. Not thread-safe for one `memory`.
tl::expected<LaunchCounts, Fault> launch(const CodeObject& code, const Kernel& kernel,
                                         const LaunchSizes& sizes,
                                         std::span<const std::byte> arguments, Memory& memory,
                                         const LaunchOptions& options = {});

}  // namespace hone::emulator
