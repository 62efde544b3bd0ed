#include "emulator/memory.h"

#include <iterator>

namespace hone::emulator {
namespace {

std::uint64_t number_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

void Memory::add(const void* begin, std::size_t bytes, bool writable) {
  ranges_[number_of(begin)] = {number_of(begin), number_of(begin) + bytes, writable};
}

bool Memory::remove(const void* begin) {
  return ranges_.erase(number_of(begin)) != 0;
}

const Memory::Range* Memory::find(std::uint64_t address, std::size_t bytes) const {
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return nullptr;
  const Range& range = std::prev(after)->second;
  // Subtraction, since address + bytes may pass the end of the address space.
  if (address >= range.end || range.end - address < bytes) return nullptr;
  return &range;
}

std::size_t Memory::size_of(const void* begin) const {
  const auto found = ranges_.find(number_of(begin));
  return found == ranges_.end() ? 0 : found->second.end - found->second.begin;
}

}  // namespace hone::emulator
