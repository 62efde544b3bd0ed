// Seconds since a moment, by the monotonic clock.
#pragma once

#include <chrono>

namespace hone {

class Stopwatch {
 public:
  // Since it was made.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace hone
