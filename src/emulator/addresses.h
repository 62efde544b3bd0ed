// Addresses of vector memory: buffers, global, flat and scratch (MI300 ISA, chapters "Vector Memory
// Operations" and "Flat Memory Instructions"). Shared by loads, stores and atomics; not for others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "emulator/lanes.h"

namespace hone::emulator {

// Each address space says where its operands stand in the text of a load, and of a store or atomic,
// and gives the bytes of a lane. at() returns nullptr after a fault, and for buffers also beyond
// their end, where loads give 0 and stores are dropped.

struct GlobalAddresses {
  static constexpr bool kOwn = false;  // memory of a lane or a workgroup
  static constexpr bool kBounded = false;
  static constexpr int kDataOfStore = 1;
  Wave& wave;
  std::uint64_t of[kLanes];
  GlobalAddresses(Wave& w, const Instruction& i, bool store) : wave(w) {
    const Operand& vector = i.sources[0];
    const Operand& scalar = i.sources[store ? 2 : 1];
    const auto offset =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(i.offset)));
    if (scalar.kind == Operand::Kind::kNone) {
      const U64::Source address(w, i, vector);
      for (int lane = 0; lane < kLanes; ++lane) of[lane] = address[lane] + offset;
    } else {
      const std::uint64_t base = w.value64(scalar) + offset;
      const U32::Source more(w, i, vector);
      for (int lane = 0; lane < kLanes; ++lane) of[lane] = base + more[lane];
    }
  }
  std::byte* at(int lane, std::uint32_t more, std::size_t bytes, bool write) {
    return wave.at(of[lane] + more, bytes, write);
  }
};

struct FlatAddresses {
  static constexpr bool kOwn = false;  // memory of a lane or a workgroup
  static constexpr bool kBounded = false;
  static constexpr int kDataOfStore = 1;
  Wave& wave;
  std::uint64_t of[kLanes];
  FlatAddresses(Wave& w, const Instruction& i, bool) : wave(w) {
    const U64::Source address(w, i, i.sources[0]);
    for (int lane = 0; lane < kLanes; ++lane) of[lane] = address[lane] + i.offset;
  }
  std::byte* at(int lane, std::uint32_t more, std::size_t bytes, bool write) {
    return wave.flat_at(lane, of[lane] + more, bytes, write);
  }
};

// Private memory of each lane; the flat scratch base is hidden from programs.
struct ScratchAddresses {
  static constexpr bool kOwn = true;  // memory of a lane or a workgroup
  static constexpr bool kBounded = false;
  static constexpr int kDataOfStore = 1;
  Wave& wave;
  std::uint32_t of[kLanes];
  ScratchAddresses(Wave& w, const Instruction& i, bool store) : wave(w) {
    const Operand& scalar = i.sources[store ? 2 : 1];
    std::uint32_t base = i.offset;
    if (scalar.kind != Operand::Kind::kNone) base += w.value32(scalar);
    std::fill_n(of, kLanes, base);
    if (i.sources[0].kind != Operand::Kind::kNone) {
      const U32::Source more(w, i, i.sources[0]);
      for (int lane = 0; lane < kLanes; ++lane) of[lane] += more[lane];
    }
  }
  std::byte* at(int lane, std::uint32_t more, std::size_t bytes, bool) {
    return wave.scratch_at(lane, of[lane] + more, bytes);
  }
};

// Writes to bytes that at() of an address space gave: private memory is nobody else's.
template <class Addresses>
void store_bytes(Wave& wave, std::byte* to, const void* data, std::size_t bytes) {
  if constexpr (Addresses::kOwn) {
    std::memcpy(to, data, bytes);
  } else {
    wave.store(to, data, bytes);
  }
}

// A buffer: base, stride, number of records and flags in four scalar registers. Raw buffers are
// checked by bytes, those with an index by records; swizzled ones and those that add the thread's
// number are refused.
struct BufferAddresses {
  static constexpr bool kOwn = false;  // memory of a lane or a workgroup
  static constexpr bool kBounded = true;
  static constexpr int kDataOfStore = 0;
  Wave& wave;
  std::uint64_t base = 0;   // with the scalar offset
  std::uint64_t limit = 0;  // bytes that may be accessed, from the base on
  std::uint64_t
      of[kLanes];  // from the base on; where that is beyond the limit, the access is out of range
  BufferAddresses(Wave& w, const Instruction& i, bool store) : wave(w) {
    const std::size_t first = store ? 1 : 0;
    const Operand& vector = i.sources[first];
    const auto words = static_cast<std::size_t>(i.sources[first + 1].index);
    const std::uint32_t scalar = w.value32(i.sources[first + 2]);
    const std::uint32_t records = w.scalar[words + 2];
    const std::uint32_t stride = w.scalar[words + 1] >> 16 & 0x3fff;
    const bool swizzled = (w.scalar[words + 1] >> 31 & 1) != 0 && stride != 0;
    const bool adds_thread = (w.scalar[words + 3] >> 23 & 1) != 0;
    if (swizzled || adds_thread) {
      w.fail(FaultKind::kUnknownInstruction,
             swizzled ? "a swizzled buffer" : "a buffer that adds the thread's number");
    }
    base = (w.scalar64(i.sources[first + 1].index) & 0xffffffffffff) + scalar;
    limit = records > scalar ? records - scalar : 0;
    // The offset is a sum modulo 2^32: compilers fold constants into the instruction behind
    // negative registers.
    std::uint32_t offsets[kLanes];
    std::fill_n(offsets, kLanes, i.offset);
    if (i.offen) {
      Operand offset = vector;
      offset.index = static_cast<std::uint16_t>(offset.index + (i.idxen ? 1 : 0));
      const U32::Source more(w, i, offset);
      for (int lane = 0; lane < kLanes; ++lane) offsets[lane] += more[lane];
    }
    std::copy_n(offsets, kLanes, of);
    if (!i.idxen) return;
    constexpr std::uint64_t kEverything = ~std::uint64_t{0} - 64;
    limit = kEverything;
    const U32::Source index(w, i, vector);
    for (int lane = 0; lane < kLanes; ++lane) {
      of[lane] =
          index[lane] < records ? of[lane] + std::uint64_t{index[lane]} * stride : kEverything;
    }
  }
  std::byte* at(int lane, std::uint32_t more, std::size_t bytes, bool write) {
    if (of[lane] + more + bytes > limit) return nullptr;
    return wave.at(base + of[lane] + more, bytes, write);
  }
};

}  // namespace hone::emulator
