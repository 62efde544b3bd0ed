// The state of one wave of 64 lanes, and what the handlers of all units need of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "emulator/fault.h"
#include "emulator/instruction.h"
#include "emulator/memory.h"
#include "emulator/number_formats.h"
#include "emulator/race_watch.h"

namespace hone::emulator {

// Apertures of flat addresses, as ROCr sets them: their high 32 bits (LLVM AMDGPUUsage, "Flat
// Address Space").
constexpr std::uint64_t kSharedBase = 0x0001000000000000;
constexpr std::uint64_t kPrivateBase = 0x0002000000000000;

// Local memory of a workgroup. Bytes that nobody wrote are 0xff: NaN in every float format.
using Lds = std::vector<std::byte>;

class Wave {
 public:
  enum class State : std::uint8_t { kRunning, kJumping, kAtBarrier, kEnded, kFaulted };

  using Register = std::array<std::uint32_t, kLanes>;

  alignas(64) std::array<Register, 512> vector;
  std::array<std::uint32_t, kScalars> scalar;
  bool scc = false;
  std::uint32_t mode =
      0;  // MODE: bits 0-3 rounding, 4-7 subnormals, 8 DX10_CLAMP, 9 IEEE, 23 FP16_OVFL
  State state = State::kRunning;
  std::uint32_t next = 0;       // index of the next instruction
  std::uint64_t code_base = 0;  // host address of the code object's image
  std::uint64_t executed = 0;   // instructions of the launch, for s_memtime
  std::uint64_t jump_to = 0;    // address in the code object that s_setpc asked for; 0: none
  const Memory* memory = nullptr;
  Lds* lds = nullptr;
  RaceWatch* races = nullptr;          // nullptr: races are not looked for
  bool faults_beyond_local = true;     // LaunchOptions
  int number = 0;                      // in the workgroup
  std::vector<std::byte> scratch;      // private memory, lane after lane
  std::size_t scratch_lane_bytes = 0;  // of one lane
  std::optional<Fault> fault;
  bool changed_memory = false;  // a byte outside of local and private memory got another value

  std::uint64_t exec() const { return scalar64(kExec); }
  std::uint64_t scalar64(int index) const {
    return scalar[static_cast<std::size_t>(index)] |
           std::uint64_t{scalar[static_cast<std::size_t>(index) + 1]} << 32;
  }
  void set_scalar64(int index, std::uint64_t value) {
    scalar[static_cast<std::size_t>(index)] = static_cast<std::uint32_t>(value);
    scalar[static_cast<std::size_t>(index) + 1] = static_cast<std::uint32_t>(value >> 32);
  }

  // MODE, FP_DENORM: a bit that keeps subnormal inputs and one that keeps subnormal results, for
  // f32, then for f16 and f64 (LLVM AMDGPUUsage, "Floating Point Denorm Mode Enumeration Values").
  bool keeps_f32_inputs() const { return (mode >> 4 & 1) != 0; }
  bool keeps_f32_outputs() const { return (mode >> 5 & 1) != 0; }
  bool keeps_f16_f64_inputs() const { return (mode >> 6 & 1) != 0; }
  bool keeps_f16_f64_outputs() const { return (mode >> 7 & 1) != 0; }
  Rounding rounding_f32() const { return static_cast<Rounding>(mode & 3); }
  Rounding rounding_f16_f64() const { return static_cast<Rounding>(mode >> 2 & 3); }

  // Runs one instruction, with the rounding that MODE asks for.
  void execute(const Instruction& instruction) {
    if ((mode & 0xf) == 0) {
      instruction.run(*this, instruction);
    } else {
      execute_rounded(instruction);
    }
  }

  // The value of a scalar operand of one or two dwords.
  std::uint32_t value32(const Operand& operand) const {
    if (operand.kind == Operand::Kind::kScalar) return scalar[operand.index];
    if (operand.kind == Operand::Kind::kScc) return scc ? 1 : 0;
    if (operand.kind == Operand::Kind::kVector) return vector[operand.index][0];
    return static_cast<std::uint32_t>(operand.constant);
  }
  std::uint64_t value64(const Operand& operand) const {
    if (operand.kind == Operand::Kind::kScalar) return scalar64(operand.index);
    if (operand.kind == Operand::Kind::kScc) return scc ? 1 : 0;
    return operand.constant;
  }

  // 64 lanes of dword `dword` of an operand of `instruction`, with DPP and SDWA done: in the
  // register itself or in `buffer` (kLanes dwords).
  const std::uint32_t* lanes(const Instruction& instruction, const Operand& operand, int dword,
                             std::uint32_t* buffer) const;

  // Lanes that a vector instruction writes: EXEC, less what DPP leaves out.
  std::uint64_t written_lanes(const Instruction& instruction) const;

  // Writes the 64 values to dword `dword` of the destination in the written lanes, with SDWA done.
  void write(const Instruction& instruction, const Operand& destination, int dword,
             const std::uint32_t* values);

  // Ends the wave with a fault; only the first one counts.
  void fail(FaultKind kind, std::string words, std::uint64_t address = 0);

  // The bytes at a device address, or nullptr after fail(). `bytes` at most 16.
  std::byte* at(std::uint64_t address, std::size_t bytes, bool write) {
    if (address < cached_.begin || address + bytes > cached_.end || (write && !cached_.writable)) {
      if (!find(address, bytes, write)) return nullptr;
    }
    return reinterpret_cast<std::byte*>(address);
  }
  // Writes to bytes that at() or flat_at() gave.
  void store(std::byte* to, const void* data, std::size_t bytes) {
    if (std::memcmp(to, data, bytes) == 0) return;
    changed_memory = true;
    std::memcpy(to, data, bytes);
  }
  // The bytes of local memory at an offset, or nullptr after fail().
  std::byte* lds_at(std::uint64_t offset, std::size_t bytes, Access access) {
    if (offset + bytes > lds->size()) {
      if (!faults_beyond_local) {
        beyond_local_.fill(std::byte{0xff});
        return beyond_local_.data();
      }
      fail_lds(offset, bytes);
      return nullptr;
    }
    if (races != nullptr && !is_alone(offset, bytes, access)) return nullptr;
    return lds->data() + offset;
  }
  // Writes to local memory. Returns false after fail().
  bool lds_write(std::uint64_t offset, const void* data, std::size_t bytes) {
    const bool same = races != nullptr && offset + bytes <= lds->size() &&
                      std::memcmp(lds->data() + offset, data, bytes) == 0;
    std::byte* to = lds_at(offset, bytes, same ? Access::kRewrite : Access::kWrite);
    if (to != nullptr) std::memcpy(to, data, bytes);
    return to != nullptr;
  }
  // The bytes of a lane's private memory at an offset, or nullptr after fail().
  std::byte* scratch_at(int lane, std::uint64_t offset, std::size_t bytes);

  // A flat address: private, local or global memory by its aperture.
  std::byte* flat_at(int lane, std::uint64_t address, std::size_t bytes, bool write);

  // Forgets the range of memory that was used last: before each launch.
  void forget_ranges() { cached_ = {}; }

 private:
  void execute_rounded(const Instruction& instruction);
  bool find(std::uint64_t address, std::size_t bytes, bool write);
  void fail_lds(std::uint64_t offset, std::size_t bytes);
  bool is_alone(std::uint64_t offset, std::size_t bytes, Access access);

  Memory::Range cached_;
  std::array<std::byte, 16> beyond_local_{};  // as large as an instruction's access of a lane
};

}  // namespace hone::emulator
