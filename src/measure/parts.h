// Work on the elements of large arrays, shared out over the cores that a thread may run on.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace hone::measure {

// Returns 1 for a thread that is pinned to a core, so that it does not disturb measurements on
// others: threads inherit the cores they may run on.
inline std::size_t usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&cores)));
}

// Calls `work(i)` for each i below `count`, at least 1, side by side, and waits. The first call is
// on this thread.
template <class Work>
void on_threads(std::size_t count, const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
}

// Calls `work(begin, end)` for parts of [0, count) that together are all of it, side by side, and
// waits. Parts begin at multiples of 64, so that no two of them share a word of a vector<bool>.
// A part has `least` of them at least. Returns what the calls returned, in the order of parts.
template <class Work>
auto in_parts_of(std::size_t count, std::size_t least, const Work& work) {
  constexpr std::size_t kUnit = 64;
  const std::size_t parts = std::clamp<std::size_t>(count / least, 1, usable_cores());
  const auto begin_of = [&](std::size_t part) {
    return part == parts ? count : count / kUnit * part / parts * kUnit;
  };
  std::vector<decltype(work(std::size_t{}, std::size_t{}))> results(parts);
  const auto run = [&](std::size_t part) {
    results[part] = work(begin_of(part), begin_of(part + 1));
  };
  on_threads(parts, run);
  return results;
}

// Likewise for elements that take nanoseconds each: a small array stays one part, on this thread.
template <class Work>
auto in_parts(std::size_t count, const Work& work) {
  return in_parts_of(count, std::size_t{1} << 18U, work);
}

}  // namespace hone::measure
