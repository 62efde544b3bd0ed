// Values that move between lanes, and between vector and scalar registers (MI300 ISA: V_READLANE
// and others; DS_PERMUTE, DS_BPERMUTE and DS_SWIZZLE, which use no local memory).
#include <bit>
#include <cstdint>
#include <cstring>

#include "emulator/lanes.h"

namespace hone::emulator {
namespace {

int lane_number(const Wave& wave, const Operand& operand) {
  return static_cast<int>(wave.value32(operand) & 63);
}

void read_lane(Wave& wave, const Instruction& i) {
  const auto lane = static_cast<std::size_t>(lane_number(wave, i.sources[1]));
  wave.scalar[i.destinations[0].index] = wave.vector[i.sources[0].index][lane];
}

void write_lane(Wave& wave, const Instruction& i) {  // also where EXEC is 0
  const auto lane = static_cast<std::size_t>(lane_number(wave, i.sources[1]));
  wave.vector[i.destinations[0].index][lane] = wave.value32(i.sources[0]);
}

void read_first_lane(Wave& wave, const Instruction& i) {
  const std::uint64_t exec = wave.exec();
  const auto lane = static_cast<std::size_t>(exec == 0 ? 0 : std::countr_zero(exec));
  const Operand& source = i.sources[0];
  wave.scalar[i.destinations[0].index] = source.kind == Operand::Kind::kVector
                                             ? wave.vector[source.index][lane]
                                             : wave.value32(source);
}

// Counts the mask's bits below this lane: the low or the high 32 of the wave's lanes.
template <bool High>
void count_below(Wave& wave, const Instruction& i) {
  const SourcesOf<U32, U32> sources(wave, i);
  std::uint32_t out[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int bits = High ? lane - 32 : lane;
    std::uint32_t below = 0;
    if (bits >= 32) {
      below = ~0u;
    } else if (bits > 0) {
      below = (1u << bits) - 1;
    }
    out[lane] = sources.of(lane, [&](std::uint32_t mask, std::uint32_t sum) {
      return sum + static_cast<std::uint32_t>(std::popcount(mask & below));
    });
  }
  wave.write(i, i.destinations[0], 0, out);
}

// A lane takes the value of the lane that its address names (bytes: 4 a lane); 0 of an inactive
// one.
void backward_permute(Wave& wave, const Instruction& i) {
  const SourcesOf<U32, U32> sources(wave, i);
  const std::uint64_t exec = wave.exec();
  std::uint32_t addresses[kLanes];
  std::uint32_t values[kLanes];
  std::uint32_t out[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    addresses[lane] = sources.of(lane, [](std::uint32_t a, std::uint32_t) { return a; });
    values[lane] = sources.of(lane, [](std::uint32_t, std::uint32_t b) { return b; });
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t from = (addresses[lane] + i.offset) >> 2 & 63;
    out[lane] = (exec >> from & 1) != 0 ? values[from] : 0;
  }
  wave.write(i, i.destinations[0], 0, out);
}

// A lane gives its value to the lane that its address names; of two the higher lane wins.
void forward_permute(Wave& wave, const Instruction& i) {
  const SourcesOf<U32, U32> sources(wave, i);
  const std::uint64_t exec = wave.exec();
  std::uint32_t out[kLanes] = {};
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((exec >> lane & 1) == 0) continue;
    sources.of(lane, [&](std::uint32_t address, std::uint32_t value) {
      out[(address + i.offset) >> 2 & 63] = value;
      return 0;
    });
  }
  wave.write(i, i.destinations[0], 0, out);
}

// ds_swizzle: a pattern in the offset (LLVM, AMDGPU "swizzle" operands). Bit 15: four lanes
// permuted; else, within 32 lanes, and, or and xor masks of five bits. Rotation (bits 15 and 14)
// came with GFX9 too.
int swizzled_lane(int lane, std::uint32_t pattern) {
  if ((pattern & 0xe000) ==
      0xc000) {  // rotate: bit 10 the direction, bits 5-9 the amount, 0-4 a mask
    const int amount = static_cast<int>(pattern >> 5 & 31);
    const int kept = static_cast<int>(pattern & 31);
    const int in_half = lane & 31;
    const int turned = (pattern >> 10 & 1) != 0 ? in_half - amount : in_half + amount;
    return (lane & 32) | (in_half & kept) | (turned & 31 & ~kept);
  }
  if ((pattern & 0x8000) != 0) return (lane & ~3) | static_cast<int>(pattern >> 2 * (lane & 3) & 3);
  const auto and_mask = static_cast<int>(pattern & 31);
  const auto or_mask = static_cast<int>(pattern >> 5 & 31);
  const auto xor_mask = static_cast<int>(pattern >> 10 & 31);
  return (lane & 32) | ((((lane & 31) & and_mask) | or_mask) ^ xor_mask);
}

void swizzle(Wave& wave, const Instruction& i) {
  const U32::Source source(wave, i, i.sources[0]);
  const std::uint64_t exec = wave.exec();
  std::uint32_t out[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int from = swizzled_lane(lane, i.offset);
    out[lane] = (exec >> from & 1) != 0 ? source[from] : 0;
  }
  wave.write(i, i.destinations[0], 0, out);
}

}  // namespace

std::vector<TableEntry> cross_lane() {
  return {
      {"v_readlane_b32", {read_lane, 1}},
      {"v_writelane_b32", {write_lane, 1}},
      {"v_readfirstlane_b32", {read_first_lane, 1}},
      {"v_mbcnt_lo_u32_b32", {count_below<false>, 1}},
      {"v_mbcnt_hi_u32_b32", {count_below<true>, 1}},
      {"ds_permute_b32", {forward_permute, 1}},
      {"ds_bpermute_b32", {backward_permute, 1}},
      {"ds_swizzle_b32", {swizzle, 1}},
  };
}

}  // namespace hone::emulator
