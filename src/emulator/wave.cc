#include "emulator/wave.h"

#include <fmt/format.h>

#include <cfenv>

namespace hone::emulator {
namespace {

// SDWA: the selected part of a dword, extended (MI300 ISA, section "SDWA").
std::uint32_t selected(std::uint32_t value, int select, bool sign_extend) {
  if (select == 6) return value;
  const bool byte = select < 4;
  const int shift = byte ? 8 * select : 16 * (select - 4);
  const std::uint32_t part = value >> shift & (byte ? 0xffu : 0xffffu);
  if (!sign_extend) return part;
  const int unused = byte ? 24 : 16;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(part << unused) >> unused);
}

// SDWA: the dword of the destination with `value` in the selected part.
std::uint32_t placed(std::uint32_t before, std::uint32_t value, int select, int unused) {
  if (select == 6) return value;
  const bool byte = select < 4;
  const int shift = byte ? 8 * select : 16 * (select - 4);
  const std::uint32_t mask = (byte ? 0xffu : 0xffffu) << shift;
  const std::uint32_t part = value << shift & mask;
  if (unused == 2) return (before & ~mask) | part;
  if (unused == 1) {  // the sign fills what is above
    const int above = byte ? 24 - shift : 16 - shift;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(part << above) >> above);
  }
  return part;
}

// The host's rounding for the time of one instruction.
class HostRounding {
 public:
  explicit HostRounding(Rounding rounding) {
    constexpr int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    std::fesetround(kModes[static_cast<int>(rounding)]);
  }
  ~HostRounding() { std::fesetround(FE_TONEAREST); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;
};

}  // namespace

const std::uint32_t* Wave::lanes(const Instruction& instruction, const Operand& operand, int dword,
                                 std::uint32_t* buffer) const {
  const auto offset = static_cast<std::size_t>(dword);
  if (operand.kind != Operand::Kind::kVector) {
    std::uint32_t value = 0;
    if (operand.kind == Operand::Kind::kScalar) {
      value = scalar[operand.index + offset];
    } else if (operand.kind == Operand::Kind::kScc) {
      value = scc ? 1 : 0;
    } else {
      value = static_cast<std::uint32_t>(operand.constant >> (32 * dword));
    }
    value = selected(value, operand.select, operand.sign_extend);
    for (int lane = 0; lane < kLanes; ++lane) buffer[lane] = value;
    return buffer;
  }
  const Register& source = vector[operand.index + offset];
  const bool moved = instruction.dpp != nullptr && &operand == &instruction.sources[0];
  if (!moved && operand.select == 6) return source.data();
  const std::uint64_t active = exec();
  for (int lane = 0; lane < kLanes; ++lane) {
    int from = lane;
    if (moved) from = instruction.dpp->from[static_cast<std::size_t>(lane)];
    const bool valid = !moved || (from >= 0 && (active >> from & 1) != 0);
    buffer[lane] = valid ? selected(source[static_cast<std::size_t>(from)], operand.select,
                                    operand.sign_extend)
                         : 0;
  }
  return buffer;
}

std::uint64_t Wave::written_lanes(const Instruction& instruction) const {
  const std::uint64_t active = exec();
  if (instruction.dpp == nullptr) return active;
  std::uint64_t written = active & instruction.dpp->enabled;
  if (instruction.dpp->zero_outside) return written;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int from = instruction.dpp->from[static_cast<std::size_t>(lane)];
    if (from < 0 || (active >> from & 1) == 0) written &= ~(std::uint64_t{1} << lane);
  }
  return written;
}

void Wave::write(const Instruction& instruction, const Operand& destination, int dword,
                 const std::uint32_t* values) {
  const std::uint64_t lanes = written_lanes(instruction);
  Register& target = vector[destination.index + static_cast<std::size_t>(dword)];
  if (instruction.destination_select != 6) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      std::uint32_t& value = target[static_cast<std::size_t>(lane)];
      value = placed(value, values[lane], instruction.destination_select,
                     instruction.destination_unused);
    }
    return;
  }
  if (lanes == ~std::uint64_t{0}) {
    std::memcpy(target.data(), values, sizeof target);
    return;
  }
  for (int half = 0; half < 2; ++half) {
    const auto bits = static_cast<std::uint32_t>(lanes >> (32 * half));
    std::uint32_t* to = target.data() + 32 * half;
    const std::uint32_t* from = values + 32 * half;
    for (int lane = 0; lane < 32; ++lane) {
      const std::uint32_t mask = 0u - (bits >> lane & 1u);
      to[lane] = (from[lane] & mask) | (to[lane] & ~mask);
    }
  }
}

void Wave::execute_rounded(const Instruction& instruction) {
  const Rounding rounding =
      instruction.rounding == RoundingClass::kDouble ? rounding_f16_f64() : rounding_f32();
  if (instruction.rounding == RoundingClass::kNone || rounding == Rounding::kNearestEven) {
    instruction.run(*this, instruction);
    return;
  }
  const HostRounding scope(rounding);
  instruction.run(*this, instruction);
}

void Wave::fail(FaultKind kind, std::string words, std::uint64_t address) {
  if (!fault) fault = Fault{kind, std::move(words), address};
  state = State::kFaulted;
}

bool Wave::find(std::uint64_t address, std::size_t bytes, bool write) {
  const Memory::Range* range = memory->find(address, bytes);
  if (range != nullptr && (range->writable || !write)) {
    cached_ = *range;
    return true;
  }
  // The words of ROCr (runtime.cpp, VMFaultHandler), which tools look for; the page is the
  // address's.
  fail(FaultKind::kMemory,
       fmt::format(
           "Memory access fault by GPU node-1 (Agent handle: 0x1) on address {:#x}. Reason: {}.",
           address & ~std::uint64_t{0xfff},
           range != nullptr ? "Write access to a read-only page"
                            : "Page not present or supervisor privilege"),
       address);
  return false;
}

void Wave::fail_lds(std::uint64_t offset, std::size_t bytes) {
  fail(FaultKind::kLds,
       fmt::format("local memory: {} bytes at offset {} of a workgroup that has {}", bytes, offset,
                   lds->size()),
       offset);
}

bool Wave::is_alone(std::uint64_t offset, std::size_t bytes, Access access) {
  std::optional<std::string> words = races->note(number, offset, bytes, access);
  if (words) fail(FaultKind::kRace, std::move(*words), offset);
  return !words;
}

std::byte* Wave::scratch_at(int lane, std::uint64_t offset, std::size_t bytes) {
  if (offset + bytes > scratch_lane_bytes) {
    fail(FaultKind::kScratch,
         fmt::format("private memory: {} bytes at offset {} of a lane that has {}", bytes, offset,
                     scratch_lane_bytes),
         offset);
    return nullptr;
  }
  return scratch.data() + static_cast<std::size_t>(lane) * scratch_lane_bytes + offset;
}

std::byte* Wave::flat_at(int lane, std::uint64_t address, std::size_t bytes, bool write) {
  const std::uint64_t aperture = address & 0xffffffff00000000;
  if (aperture == kSharedBase) {
    return lds_at(address & 0xffffffff, bytes, write ? Access::kWrite : Access::kRead);
  }
  if (aperture == kPrivateBase) return scratch_at(lane, address & 0xffffffff, bytes);
  return at(address, bytes, write);
}

}  // namespace hone::emulator
