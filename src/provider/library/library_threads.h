// Threads that a library starts by itself.
#pragma once

#include <functional>
#include <span>

namespace hone::library {

// Calls `start` while the calling thread is bound to `cores`, so that a library which counts its
// cores finds these. Then pins each thread that `start` created to a core of its own. The calling
// thread counts as the first, and gets its previous affinity back.
void start_on_cores(std::span<const int> cores, const std::function<void()>& start);

}  // namespace hone::library
