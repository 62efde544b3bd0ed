#include "tune/dispatch/time_left.h"

#include <algorithm>

namespace hone::tune {

double seconds_left(const DispatchTime& time) {
  double searching = std::max(0.0, time.searching);
  if (time.per_candidate > 0) searching = std::min(searching, time.per_candidate * time.candidates);
  return searching + std::max(0.0, time.comparing) + std::max(0.0, time.after);
}

}  // namespace hone::tune
