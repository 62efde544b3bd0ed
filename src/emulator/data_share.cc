// Local memory (LDS) without atomics: MI300 ISA, section "LDS & GWS Instructions". Unaligned
// accesses are allowed, as the driver sets it (LLVM AMDGPUUsage, unaligned-access-mode).
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulator/lanes.h"

namespace hone::emulator {
namespace {

// Each lane's address, kept apart from the registers that a load overwrites.
struct LocalAddresses {
  std::uint32_t of[kLanes];
  LocalAddresses(const Wave& wave, const Instruction& i, const Operand& operand) {
    std::uint32_t buffer[kLanes];
    std::memcpy(of, wave.lanes(i, operand, 0, buffer), sizeof of);
  }
};

// Reads `Dwords` at `offset` behind each active lane's address into registers from `first` on.
template <std::size_t Dwords>
bool read_local(Wave& wave, const LocalAddresses& addresses, std::uint32_t offset,
                std::size_t first) {
  const std::uint64_t exec = wave.exec();
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    if ((exec >> lane & 1) == 0) continue;
    const std::byte* from =
        wave.lds_at(std::uint64_t{addresses.of[lane]} + offset, 4 * Dwords, Access::kRead);
    if (from == nullptr) return false;
    for (std::size_t dword = 0; dword < Dwords; ++dword) {
      std::memcpy(&wave.vector[first + dword][lane], from + 4 * dword, 4);
    }
  }
  return true;
}

template <std::size_t Dwords>
bool write_local(Wave& wave, const LocalAddresses& addresses, std::uint32_t offset,
                 std::size_t first) {
  const std::uint64_t exec = wave.exec();
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    if ((exec >> lane & 1) == 0) continue;
    std::uint32_t data[Dwords];
    for (std::size_t dword = 0; dword < Dwords; ++dword)
      data[dword] = wave.vector[first + dword][lane];
    if (!wave.lds_write(std::uint64_t{addresses.of[lane]} + offset, data, sizeof data))
      return false;
  }
  return true;
}

template <std::size_t Dwords>
constexpr Semantics reads() {
  return {[](Wave& wave, const Instruction& i) {
            read_local<Dwords>(wave, LocalAddresses(wave, i, i.sources[0]), i.offset,
                               i.destinations[0].index);
          },
          1};
}
template <std::size_t Dwords>
constexpr Semantics writes() {
  return {[](Wave& wave, const Instruction& i) {
            write_local<Dwords>(wave, LocalAddresses(wave, i, i.sources[0]), i.offset,
                                i.sources[1].index);
          },
          0};
}

// Two elements at offsets in units of `Stride` elements.
template <std::size_t Dwords, std::uint32_t Stride>
constexpr Semantics reads_two() {
  return {[](Wave& wave, const Instruction& i) {
            constexpr std::uint32_t kUnit = 4 * Dwords * Stride;
            const LocalAddresses addresses(wave, i, i.sources[0]);
            const std::size_t first = i.destinations[0].index;
            if (!read_local<Dwords>(wave, addresses, kUnit * i.offset, first)) return;
            read_local<Dwords>(wave, addresses, kUnit * i.offset1, first + Dwords);
          },
          1};
}
template <std::size_t Dwords, std::uint32_t Stride>
constexpr Semantics writes_two() {
  return {[](Wave& wave, const Instruction& i) {
            constexpr std::uint32_t kUnit = 4 * Dwords * Stride;
            const LocalAddresses addresses(wave, i, i.sources[0]);
            if (!write_local<Dwords>(wave, addresses, kUnit * i.offset, i.sources[1].index)) return;
            write_local<Dwords>(wave, addresses, kUnit * i.offset1, i.sources[2].index);
          },
          0};
}

// Where the bits of a part of a register go, and whether the rest is kept.
enum class Part { kWhole, kLowKept, kHighKept };

template <class T, Part Where>
constexpr Semantics reads_part() {
  return {[](Wave& wave, const Instruction& i) {
            const LocalAddresses addresses(wave, i, i.sources[0]);
            const std::uint64_t exec = wave.exec();
            for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
              if ((exec >> lane & 1) == 0) continue;
              const std::byte* from = wave.lds_at(std::uint64_t{addresses.of[lane]} + i.offset,
                                                  sizeof(T), Access::kRead);
              if (from == nullptr) return;
              T value{};
              std::memcpy(&value, from, sizeof value);
              const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
              std::uint32_t& target = wave.vector[i.destinations[0].index][lane];
              if (Where == Part::kWhole) target = bits;
              if (Where == Part::kLowKept) target = (target & 0xffff0000u) | (bits & 0xffffu);
              if (Where == Part::kHighKept) target = (target & 0xffffu) | bits << 16;
            }
          },
          1};
}
template <class T, int Shift>
constexpr Semantics writes_part() {
  return {
      [](Wave& wave, const Instruction& i) {
        const LocalAddresses addresses(wave, i, i.sources[0]);
        const std::uint64_t exec = wave.exec();
        for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
          if ((exec >> lane & 1) == 0) continue;
          const auto value = static_cast<T>(wave.vector[i.sources[1].index][lane] >> Shift);
          if (!wave.lds_write(std::uint64_t{addresses.of[lane]} + i.offset, &value, sizeof value))
            return;
        }
      },
      0};
}

}  // namespace

std::vector<TableEntry> data_share() {
  using u8 = std::uint8_t;
  using i8 = std::int8_t;
  using u16 = std::uint16_t;
  using i16 = std::int16_t;
  return {
      {"ds_nop", {[](Wave&, const Instruction&) {}, 0}},
      {"ds_read_b32", reads<1>()},
      {"ds_read_b64", reads<2>()},
      {"ds_read_b96", reads<3>()},
      {"ds_read_b128", reads<4>()},
      {"ds_read_u8", reads_part<u8, Part::kWhole>()},
      {"ds_read_i8", reads_part<i8, Part::kWhole>()},
      {"ds_read_u16", reads_part<u16, Part::kWhole>()},
      {"ds_read_i16", reads_part<i16, Part::kWhole>()},
      {"ds_read_u8_d16", reads_part<u8, Part::kLowKept>()},
      {"ds_read_i8_d16", reads_part<i8, Part::kLowKept>()},
      {"ds_read_u16_d16", reads_part<u16, Part::kLowKept>()},
      {"ds_read_u8_d16_hi", reads_part<u8, Part::kHighKept>()},
      {"ds_read_i8_d16_hi", reads_part<i8, Part::kHighKept>()},
      {"ds_read_u16_d16_hi", reads_part<u16, Part::kHighKept>()},
      {"ds_read2_b32", reads_two<1, 1>()},
      {"ds_read2_b64", reads_two<2, 1>()},
      {"ds_read2st64_b32", reads_two<1, 64>()},
      {"ds_read2st64_b64", reads_two<2, 64>()},
      {"ds_write_b32", writes<1>()},
      {"ds_write_b64", writes<2>()},
      {"ds_write_b96", writes<3>()},
      {"ds_write_b128", writes<4>()},
      {"ds_write_b8", writes_part<u8, 0>()},
      {"ds_write_b16", writes_part<u16, 0>()},
      {"ds_write_b8_d16_hi", writes_part<u8, 16>()},
      {"ds_write_b16_d16_hi", writes_part<u16, 16>()},
      {"ds_write2_b32", writes_two<1, 1>()},
      {"ds_write2_b64", writes_two<2, 1>()},
      {"ds_write2st64_b32", writes_two<1, 64>()},
      {"ds_write2st64_b64", writes_two<2, 64>()},
  };
}

}  // namespace hone::emulator
