// Atomics of local, buffer, global and flat memory (MI300 ISA: DS_*, BUFFER_ATOMIC_*,
// GLOBAL_ATOMIC_*, FLAT_ATOMIC_*).
//
// Lanes go one after the other from lane 0 on, and nothing runs beside a wave: plain reads and
// writes are atomic here.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "emulator/addresses.h"

namespace hone::emulator {
namespace {

// Local memory as an address space: the address in the first source, data behind it.
struct LocalSpace {
  static constexpr bool kOwn = true;
  static constexpr int kDataOfStore = 1;
  Wave& wave;
  std::uint64_t of[kLanes];
  LocalSpace(Wave& w, const Instruction& i, bool) : wave(w) {
    const U32::Source address(w, i, i.sources[0]);
    for (int lane = 0; lane < kLanes; ++lane) of[lane] = std::uint64_t{address[lane]} + i.offset;
  }
  std::byte* at(int lane, std::uint32_t more, std::size_t bytes, bool) {
    return wave.lds_at(of[lane] + more, bytes, Access::kAtomic);
  }
};

template <class T>
T data_of_lane(const Wave& wave, std::size_t first, std::size_t lane) {
  std::uint64_t bits = wave.vector[first][lane];
  if constexpr (sizeof(T) == 8) {
    bits |= std::uint64_t{wave.vector[first + 1][lane]} << 32;
    return std::bit_cast<T>(bits);
  } else {
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  }
}

// memory = function(memory, data), with the value before returned where the instruction asks for
// it. Two data values (compare and swap) stand in registers one behind the other, in local memory
// in two operands.
template <class Space, class T, bool TwoData, class Function>
void update(Wave& wave, const Instruction& i) {
  Space addresses(wave, i, true);
  const std::uint64_t exec = wave.exec();
  constexpr bool kLocal = std::is_same_v<Space, LocalSpace>;
  constexpr std::size_t kDwords = sizeof(T) / 4;
  const std::size_t data = i.sources[Space::kDataOfStore].index;
  const std::size_t more_data = kLocal ? std::size_t{i.sources[2].index} : data + kDwords;
  const bool returns = kLocal ? i.destinations[0].kind == Operand::Kind::kVector : i.returns;
  const std::size_t target = Space::kDataOfStore == 0 ? data : std::size_t{i.destinations[0].index};
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    if ((exec >> lane & 1) == 0) continue;
    std::byte* at = addresses.at(static_cast<int>(lane), 0, sizeof(T), true);
    if (at == nullptr) {
      if (wave.state == Wave::State::kFaulted) return;
      for (std::size_t dword = 0; returns && dword < kDwords; ++dword)
        wave.vector[target + dword][lane] = 0;
      continue;
    }
    T before{};
    std::memcpy(&before, at, sizeof before);
    const T operand = data_of_lane<T>(wave, data, lane);
    T after{};
    if constexpr (TwoData) {
      after = Function{}(before, operand, data_of_lane<T>(wave, more_data, lane));
    } else {
      after = Function{}(before, operand);
    }
    store_bytes<Space>(wave, at, &after, sizeof after);
    if (!returns) continue;
    std::uint32_t bits[kDwords];
    std::memcpy(bits, &before, sizeof before);
    for (std::size_t dword = 0; dword < kDwords; ++dword)
      wave.vector[target + dword][lane] = bits[dword];
  }
}

// The names of one operation in each space; an empty one: it has none there.
struct AtomicNames {
  std::string_view local;  // ds_NAME_TYPE; ds_NAME_rtn_TYPE
  std::string_view local_type;
  std::string_view memory;  // buffer_atomic_NAME and others
};

template <class T, bool TwoData, class Function>
void add_atomic(std::vector<TableEntry>& table, const AtomicNames& names, Function) {
  const auto add = [&](std::string name, Handler run, int destinations, bool atomic) {
    Semantics semantics{run, destinations};
    semantics.atomic = atomic;
    table.push_back({std::move(name), semantics});
  };
  if (!names.local.empty()) {
    const auto name = [&](std::string_view middle) {
      return std::string("ds_").append(names.local).append(middle).append(names.local_type);
    };
    add(name("_"), update<LocalSpace, T, TwoData, Function>, 0, false);
    add(name("_rtn_"), update<LocalSpace, T, TwoData, Function>, 1, false);
  }
  if (!names.memory.empty()) {
    const auto name = [&](std::string_view prefix) {
      return std::string(prefix).append("_atomic_").append(names.memory);
    };
    // A buffer atomic returns into its data.
    add(name("buffer"), update<BufferAddresses, T, TwoData, Function>, 0, false);
    add(name("global"), update<GlobalAddresses, T, TwoData, Function>, 0, true);
    add(name("flat"), update<FlatAddresses, T, TwoData, Function>, 0, true);
  }
}

template <class U, class I>
void add_integer_atomics(std::vector<TableEntry>& table, std::string_view bits,
                         std::string_view suffix) {
  const auto type = [&](char letter) { return std::string(1, letter).append(bits); };
  const auto memory = [&](std::string_view name) { return std::string(name).append(suffix); };
  const std::string u = type('u');
  const std::string i = type('i');
  const std::string b = type('b');
  add_atomic<U, false>(table, {"add", u, memory("add")}, [](U m, U d) { return m + d; });
  add_atomic<U, false>(table, {"sub", u, memory("sub")}, [](U m, U d) { return m - d; });
  add_atomic<U, false>(table, {"rsub", u, ""}, [](U m, U d) { return d - m; });
  // Increment wraps to 0 above the data; decrement to the data below 0.
  add_atomic<U, false>(table, {"inc", u, memory("inc")},
                       [](U m, U d) { return m >= d ? U{0} : m + 1; });
  add_atomic<U, false>(table, {"dec", u, memory("dec")},
                       [](U m, U d) { return m == 0 || m > d ? d : m - 1; });
  add_atomic<I, false>(table, {"min", i, memory("smin")}, [](I m, I d) { return std::min(m, d); });
  add_atomic<I, false>(table, {"max", i, memory("smax")}, [](I m, I d) { return std::max(m, d); });
  add_atomic<U, false>(table, {"min", u, memory("umin")}, [](U m, U d) { return std::min(m, d); });
  add_atomic<U, false>(table, {"max", u, memory("umax")}, [](U m, U d) { return std::max(m, d); });
  add_atomic<U, false>(table, {"and", b, memory("and")}, [](U m, U d) { return m & d; });
  add_atomic<U, false>(table, {"or", b, memory("or")}, [](U m, U d) { return m | d; });
  add_atomic<U, false>(table, {"xor", b, memory("xor")}, [](U m, U d) { return m ^ d; });
  add_atomic<U, false>(table, {"wrxchg", b, memory("swap")}, [](U, U d) { return d; });
  // In local memory the first data is what is compared; elsewhere the second.
  add_atomic<U, true>(table, {"cmpst", b, ""},
                      [](U m, U compared, U stored) { return m == compared ? stored : m; });
  add_atomic<U, true>(table, {"", "", memory("cmpswap")},
                      [](U m, U stored, U compared) { return m == compared ? stored : m; });
}

template <float (*Decode)(std::uint32_t), std::uint32_t (*Encode)(float)>
std::uint32_t pair_sum(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t low = Encode(Decode(a & 0xffff) + Decode(b & 0xffff));
  const std::uint32_t high = Encode(Decode(a >> 16) + Decode(b >> 16));
  return (low & 0xffff) | high << 16;
}

}  // namespace

std::vector<TableEntry> atomics() {
  using u32 = std::uint32_t;
  std::vector<TableEntry> table;
  add_integer_atomics<u32, std::int32_t>(table, "32", "");
  add_integer_atomics<std::uint64_t, std::int64_t>(table, "64", "_x2");
  add_atomic<float, false>(table, {"add", "f32", "add_f32"},
                           [](float m, float d) { return m + d; });
  add_atomic<float, false>(table, {"min", "f32", ""},
                           [](float m, float d) { return std::fmin(m, d); });
  add_atomic<float, false>(table, {"max", "f32", ""},
                           [](float m, float d) { return std::fmax(m, d); });
  add_atomic<double, false>(table, {"add", "f64", "add_f64"},
                            [](double m, double d) { return m + d; });
  add_atomic<double, false>(table, {"min", "f64", "min_f64"},
                            [](double m, double d) { return std::fmin(m, d); });
  add_atomic<double, false>(table, {"max", "f64", "max_f64"},
                            [](double m, double d) { return std::fmax(m, d); });
  add_atomic<u32, false>(table, {"pk_add", "f16", "pk_add_f16"},
                         [](u32 m, u32 d) { return pair_sum<half_to_float, float_to_half>(m, d); });
  add_atomic<u32, false>(table, {"pk_add", "bf16", "pk_add_bf16"}, [](u32 m, u32 d) {
    return pair_sum<bfloat_to_float, float_to_bfloat>(m, d);
  });
  return table;
}

}  // namespace hone::emulator
