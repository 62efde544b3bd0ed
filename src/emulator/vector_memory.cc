// Loads and stores of vector memory: MUBUF, GLOBAL, FLAT and SCRATCH (MI300 ISA, sections "MUBUF
// Instructions" and "FLAT, Scratch and Global Instructions").
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "emulator/addresses.h"

namespace hone::emulator {
namespace {

bool is_active(std::uint64_t exec, int lane) {
  return (exec >> lane & 1) != 0;
}

// Reads a dword or a part of one; 0 beyond the end of a buffer. Returns false after a fault.
template <class T, class Addresses>
bool read_element(Addresses& addresses, int lane, std::uint32_t more, T& value) {
  const std::byte* from = addresses.at(lane, more, sizeof value, false);
  if (from == nullptr) {
    value = 0;
    return Addresses::kBounded && addresses.wave.state != Wave::State::kFaulted;
  }
  std::memcpy(&value, from, sizeof value);
  return true;
}

template <class Addresses, std::size_t Dwords>
void load_dwords(Wave& wave, const Instruction& i) {
  Addresses addresses(wave, i, false);
  const std::uint64_t exec = wave.exec();
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!is_active(exec, lane)) continue;
    for (std::size_t dword = 0; dword < Dwords; ++dword) {
      std::uint32_t value = 0;
      if (!read_element(addresses, lane, static_cast<std::uint32_t>(4 * dword), value)) return;
      wave.vector[i.destinations[0].index + dword][static_cast<std::size_t>(lane)] = value;
    }
  }
}

// Loads to local memory: lane after lane behind M0 and the instruction's offset.
template <class Addresses, class T>
void load_to_lds(Wave& wave, const Instruction& i) {
  Addresses addresses(wave, i, false);
  const std::uint64_t exec = wave.exec();
  const std::uint32_t first = (wave.scalar[kM0] & 0xffff) + i.offset;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!is_active(exec, lane)) continue;
    T value{};
    if (!read_element(addresses, lane, 0, value)) return;
    const auto dword = static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    std::byte* to =
        wave.lds_at(std::uint64_t{first} + 4 * static_cast<std::uint32_t>(lane), 4, Access::kWrite);
    if (to == nullptr) return;
    std::memcpy(to, &dword, 4);
  }
}

enum class Half {
  kNone,
  kLow,
  kHigh
};  // of the register that a part goes to; the other one is kept

template <class Addresses, class T, Half Where>
void load_part(Wave& wave, const Instruction& i) {
  Addresses addresses(wave, i, false);
  const std::uint64_t exec = wave.exec();
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!is_active(exec, lane)) continue;
    T value{};
    if (!read_element(addresses, lane, 0, value)) return;
    const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    std::uint32_t& target = wave.vector[i.destinations[0].index][static_cast<std::size_t>(lane)];
    if (Where == Half::kNone) target = bits;
    if (Where == Half::kLow) target = (target & 0xffff0000u) | (bits & 0xffffu);
    if (Where == Half::kHigh) target = (target & 0xffffu) | bits << 16;
  }
}

template <class Addresses, std::size_t Dwords>
void store_dwords(Wave& wave, const Instruction& i) {
  Addresses addresses(wave, i, true);
  const std::uint64_t exec = wave.exec();
  const std::size_t data = i.sources[Addresses::kDataOfStore].index;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!is_active(exec, lane)) continue;
    for (std::size_t dword = 0; dword < Dwords; ++dword) {
      std::byte* to = addresses.at(lane, static_cast<std::uint32_t>(4 * dword), 4, true);
      if (to == nullptr) {
        if (wave.state == Wave::State::kFaulted) return;
        continue;
      }
      store_bytes<Addresses>(wave, to, &wave.vector[data + dword][static_cast<std::size_t>(lane)],
                             4);
    }
  }
}

template <class Addresses, class T, int Shift>
void store_part(Wave& wave, const Instruction& i) {
  Addresses addresses(wave, i, true);
  const std::uint64_t exec = wave.exec();
  const std::size_t data = i.sources[Addresses::kDataOfStore].index;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!is_active(exec, lane)) continue;
    std::byte* to = addresses.at(lane, 0, sizeof(T), true);
    if (to == nullptr) {
      if (wave.state == Wave::State::kFaulted) return;
      continue;
    }
    const auto value = static_cast<T>(wave.vector[data][static_cast<std::size_t>(lane)] >> Shift);
    store_bytes<Addresses>(wave, to, &value, sizeof value);
  }
}

// The loads and stores that all four spaces have, under the space's prefix.
template <class Addresses>
void add_space(std::vector<TableEntry>& table, std::string_view prefix) {
  const auto add = [&](std::string_view name, Handler run, int destinations) {
    Semantics semantics{run, destinations};
    table.push_back({std::string(prefix).append(name), semantics});
  };
  add("load_dword", load_dwords<Addresses, 1>, 1);
  add("load_dwordx2", load_dwords<Addresses, 2>, 1);
  add("load_dwordx3", load_dwords<Addresses, 3>, 1);
  add("load_dwordx4", load_dwords<Addresses, 4>, 1);
  add("load_ubyte", load_part<Addresses, std::uint8_t, Half::kNone>, 1);
  add("load_sbyte", load_part<Addresses, std::int8_t, Half::kNone>, 1);
  add("load_ushort", load_part<Addresses, std::uint16_t, Half::kNone>, 1);
  add("load_sshort", load_part<Addresses, std::int16_t, Half::kNone>, 1);
  add("load_ubyte_d16", load_part<Addresses, std::uint8_t, Half::kLow>, 1);
  add("load_sbyte_d16", load_part<Addresses, std::int8_t, Half::kLow>, 1);
  add("load_short_d16", load_part<Addresses, std::uint16_t, Half::kLow>, 1);
  add("load_ubyte_d16_hi", load_part<Addresses, std::uint8_t, Half::kHigh>, 1);
  add("load_sbyte_d16_hi", load_part<Addresses, std::int8_t, Half::kHigh>, 1);
  add("load_short_d16_hi", load_part<Addresses, std::uint16_t, Half::kHigh>, 1);
  add("store_dword", store_dwords<Addresses, 1>, 0);
  add("store_dwordx2", store_dwords<Addresses, 2>, 0);
  add("store_dwordx3", store_dwords<Addresses, 3>, 0);
  add("store_dwordx4", store_dwords<Addresses, 4>, 0);
  add("store_byte", store_part<Addresses, std::uint8_t, 0>, 0);
  add("store_short", store_part<Addresses, std::uint16_t, 0>, 0);
  add("store_byte_d16_hi", store_part<Addresses, std::uint8_t, 16>, 0);
  add("store_short_d16_hi", store_part<Addresses, std::uint16_t, 16>, 0);
}

// Loads to local memory: the buffer's have a modifier "lds" and no destination, the global ones a
// name.
template <class Addresses>
void add_loads_to_lds(std::vector<TableEntry>& table, std::string_view prefix,
                      std::string_view suffix) {
  const auto add = [&](std::string_view name, Handler run) {
    table.push_back({std::string(prefix).append(name).append(suffix), {run, 0}});
  };
  add("dword", load_to_lds<Addresses, std::uint32_t>);
  add("ubyte", load_to_lds<Addresses, std::uint8_t>);
  add("sbyte", load_to_lds<Addresses, std::int8_t>);
  add("ushort", load_to_lds<Addresses, std::uint16_t>);
  add("sshort", load_to_lds<Addresses, std::int16_t>);
}

}  // namespace

std::vector<TableEntry> vector_memory() {
  std::vector<TableEntry> table;
  add_space<BufferAddresses>(table, "buffer_");
  add_space<GlobalAddresses>(table, "global_");
  add_space<FlatAddresses>(table, "flat_");
  add_space<ScratchAddresses>(table, "scratch_");
  add_loads_to_lds<BufferAddresses>(table, "buffer_load_", " lds");
  add_loads_to_lds<GlobalAddresses>(table, "global_load_lds_", "");
  return table;
}

}  // namespace hone::emulator
