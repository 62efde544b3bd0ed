// Threads that a library starts on its own.
#pragma once

#include <functional>
#include <span>

namespace hone::library {

// Calls `start` while the calling thread may run on `cores` only, so that a library which counts
// the cores it may use finds these, and keeps each thread that `start` left behind on a core of its
// own: the calling thread, which may run where it could before, counts as the first.
void start_on_cores(std::span<const int> cores, const std::function<void()>& start);

}  // namespace hone::library
