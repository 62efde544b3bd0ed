// The device's memory: which host addresses a kernel may access.
//
// Device addresses are host addresses, so a copy between host and device is a memcpy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace hone::emulator {

// Registered allocations. Not thread-safe: callers serialise changes and launches.
class Memory {
 public:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // one past the last byte
    bool writable = true;
  };

  // Registers `bytes` bytes at `begin`. Ranges must not overlap.
  void add(const void* begin, std::size_t bytes, bool writable = true);

  // Forgets the range that begins at `begin`. Returns false if there is none.
  bool remove(const void* begin);

  // Returns the range that holds all of [address, address + bytes); nullptr if none does.
  const Range* find(std::uint64_t address, std::size_t bytes) const;

  // Returns the size in bytes of the range that begins at `begin`; 0 if there is none.
  std::size_t size_of(const void* begin) const;

 private:
  std::map<std::uint64_t, Range> ranges_;  // by begin
};

}  // namespace hone::emulator
