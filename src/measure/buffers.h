// The memory of a dispatch's bindings, arranged so that a kernel's mistakes show: guards around
// every buffer, poison in what must be written, and several copies for cold-cache measurement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "problem/dispatch.h"

namespace hone::measure {

enum class CacheMode { kWarm, kCold };

// A guard whose bytes have changed: the kernel wrote outside its buffer.
struct BrokenGuard {
  int binding = 0;
  // Where the changed byte nearest to the buffer lies, from the buffer's start: negative before it,
  // at least its size behind it.
  std::int64_t offset = 0;
};

// `copies` sets of buffers, one buffer per binding each. Every buffer starts on a page, has
// kGuardBytes of poison (verification.h) before it and at least as many behind it: writing there
// changes it, and what reads it as a number gets NaN. No memory lies before the first and behind
// the last copy. Views of one binding of the kernel lie as far from one another as their offsets
// say, with as much of the poison between them as there is room for.
//
// On a device with memory of its own the copies lie there in the same arrangement. What the host
// sees (contents, broken_guards, changed_inputs) is the copy that was fetched last: fetch one
// first. Not thread-safe.
class Buffers {
 public:
  static constexpr std::size_t kGuardBytes = problem::kGuardBytes;

  // Bytes by binding; empty for write-only ones, which start as poison.
  using Contents = std::vector<std::vector<std::byte>>;

  // `initial` are the contents of the bindings before a launch, `second` the contents before a
  // launch of variant 1 (prepare); empty: the same. An input error for a binding without a static
  // size, contents of another size or views that overlap. An environment error if memory does not
  // suffice. `device` uses the buffers and must outlive them; nullptr: a device that works in the
  // host's memory.
  static Result<Buffers> create(std::vector<problem::Binding> bindings, Contents initial,
                                int copies, device::Device* device = nullptr, Contents second = {});
  ~Buffers();
  Buffers(Buffers&&) noexcept;
  Buffers& operator=(Buffers&&) noexcept;

  int copies() const;
  const std::vector<problem::Binding>& bindings() const;
  // Buffers that Device::time rotates through, by copy.
  const std::vector<std::vector<device::Buffer>>& rotation() const;
  std::span<const device::Buffer> copy(int index) const;
  std::span<const std::byte> contents(int copy, int binding) const;
  std::span<const std::byte> initial(int binding, int variant = 0) const;

  // Prepares copy `index` for a verified launch: write-only buffers hold poison (verification.h,
  // `variant` 0 or 1), the others the contents of that variant, guards are whole. This call and the
  // following ones fail only if the device does.
  Status prepare(int index, int variant = 0);
  // Makes the host see copy `index` as it is now; `only_written`: the bindings that a kernel may
  // write, without guards. An environment error if the host's memory does not suffice.
  Status fetch(int index, bool only_written = false);
  // Whether the device itself finds the guards of copy `index`, prepared as `variant`, whole and
  // its read-only bindings unchanged. nullopt if it cannot tell. In that case, or if it returns
  // false, fetch() the copy and compare.
  Result<std::optional<bool>> is_intact_on_device(int index, int variant = 0) const;
  // Moves everything to other memory, prepared as for a launch. `seed` draws the order of its pages
  // in physical memory. Page collisions in a physically indexed cache make some kernels several
  // percent faster or slower. Pages taken in order would come back in the same places after they
  // are freed. Spans returned before are no longer valid. An environment error if memory does not
  // suffice; then nothing has moved.
  Status move_to_other_memory(std::uint64_t seed);
  // Gives read-write buffers their first contents again, in every copy.
  Status restore_read_write();
  // Guards of a copy that no longer hold the poison, at most two per binding.
  std::vector<BrokenGuard> broken_guards(int index) const;
  // Read-only bindings of a copy, prepared as `variant`, whose bytes have changed.
  std::vector<int> changed_inputs(int index, int variant = 0) const;

 private:
  struct State;
  explicit Buffers(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Number of copies of `bytes_per_copy` that make a rotation cold: together more than twice the
// last-level cache, so that a copy is evicted before its next turn. There are fewer if that would
// take more than an eighth of `available_memory`: a virtual machine may report the whole host's
// cache as its own. `note` then says so.
struct Rotation {
  int copies = 1;
  std::string note;
};
Rotation rotation_for(CacheMode mode, std::int64_t bytes_per_copy, std::int64_t last_level_cache,
                      std::int64_t available_memory);
// MemAvailable of /proc/meminfo in bytes; 0 if it cannot be read.
std::int64_t available_memory();

// Place of a binding's buffer in a copy of the buffers: guard, buffer, guard. In bytes from the
// copy's start.
struct BufferPlace {
  std::size_t before = 0;  // of the guard before the buffer
  std::size_t start = 0;   // of the buffer
  std::size_t bytes = 0;   // of the buffer
  std::size_t end = 0;     // of the guard behind it
};

// Arranges the bindings. Each begins on a page (its guard before it) and ends with a guard up to a
// page's end. Views of one binding of the kernel keep their distance, and use the gaps between them
// for guards.
struct Arrangement {
  static constexpr std::size_t kPage = 4096;

  // Every binding has a static size, and no two overlap.
  explicit Arrangement(const std::vector<problem::Binding>& bindings);

  std::vector<BufferPlace> places;  // by binding
  std::size_t bytes = 0;            // of a copy
  // Used parts of a copy, in order (begin, end): two views may lie gigabytes apart.
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
};

}  // namespace hone::measure
