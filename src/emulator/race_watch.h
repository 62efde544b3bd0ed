// Races in local memory: two waves touch a byte between two barriers, and one of them writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hone::emulator {

enum class Access : std::uint8_t {
  kRead,
  kWrite,
  kRewrite,  // writes the value that is there: compilers have several waves do that
  kAtomic,
};

// The accesses of a workgroup since its last barrier. Two atomics do not race, nor do two writes of
// the same value.
class RaceWatch {
 public:
  explicit RaceWatch(std::size_t local_bytes) : cells_(local_bytes) {}

  // Forgets all accesses: at a barrier, and when a workgroup begins.
  void pass_barrier() { ++epoch_; }

  // Notes an access of wave `wave` (0 to 15) within the local memory. Returns words if it races
  // with an earlier one.
  std::optional<std::string> note(int wave, std::uint64_t offset, std::size_t bytes, Access access);

 private:
  struct Cell {
    std::uint64_t epoch = 0;
    std::uint16_t readers = 0;  // a bit for each wave
    std::uint16_t writers = 0;
    std::uint16_t updaters = 0;  // by atomics
  };

  std::vector<Cell> cells_;  // a byte each
  std::uint64_t epoch_ = 1;
};

}  // namespace hone::emulator
