// The clock that kernels are timed with.
#pragma once

#include <time.h>

namespace hone::device {

// Seconds since some moment, at the rate of the hardware: nothing adjusts it while it runs.
inline double raw_seconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace hone::device
