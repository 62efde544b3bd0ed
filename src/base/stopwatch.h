// Seconds since a moment, by the monotonic clock or by one that is given.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

namespace hone {

// Seconds since some moment, never fewer than before. Where a decision depends on the time that
// passed, its clock is a parameter, so that a recorded run decides the same when it is replayed.
using Clock = std::function<double()>;

inline double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Stopwatch {
 public:
  explicit Stopwatch(Clock clock = monotonic_seconds)
      : clock_(std::move(clock)), begin_(clock_()) {}

  // Since it was made.
  double seconds() const { return clock_() - begin_; }

 private:
  Clock clock_;
  double begin_;
};

}  // namespace hone
